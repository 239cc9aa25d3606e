"""The appearances of wrong outputs; each sentence is true."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from opkit.check.appearance import appearance
from opkit.check.comparison import ulp_distance
from opkit.runtimes.invocation import Array

FILLS = (0x7E, 0xBC)
NUMBERS = np.array([[1.5, -2, 3.25, 7], [0, 11, -4, 5.5], [9, 2, 8.75, -6]])


def numbers(dtype: str) -> Array:
    return NUMBERS.astype(dtype)


def after(array: Array, steps: int) -> Array:
    return np.roll(array.ravel(), steps).reshape(array.shape)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_bits_of_another_type(bits: int) -> None:
    whole = np.array([1, 2, -3, 0], f"int{bits}")
    floats = whole.astype(f"float{bits}")
    as_int, as_float = floats.view(whole.dtype), whole.view(floats.dtype)
    assert appearance(as_int, whole) == f"the bits are those of a float{bits}, read as int{bits}"
    assert (
        appearance(as_float, floats) == f"the bits are those of an int{bits}, read as float{bits}"
    )


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "uint8"])
@pytest.mark.parametrize(("steps", "source"), [(1, "i - 1"), (-1, "i + 1")])
def test_shifted(dtype: str, steps: int, source: str) -> None:
    expected = np.abs(numbers(dtype))
    assert appearance(after(expected, steps), expected) == (
        f"shifted by one in memory: element i holds the reference's {source}"
    )
    along = np.roll(expected, steps, axis=1)
    assert appearance(along, expected) == (
        f"shifted by one along axis 1: element i holds the reference's {source}"
    )


def test_transposed() -> None:
    expected = numbers("float32")
    actual = np.ascontiguousarray(expected.T).reshape(expected.shape)
    assert appearance(actual, expected) == (
        "transposed: the elements are in the order of the axes (1, 0)"
    )
    image = np.arange(24, dtype=np.float16).reshape(1, 2, 3, 4)
    actual = np.ascontiguousarray(image.transpose(0, 2, 3, 1)).reshape(image.shape)
    assert "order of the axes (0, 2, 3, 1)" in appearance(actual, image)
    large = np.arange(64, dtype=np.int32).reshape((2,) * 6)
    actual = np.ascontiguousarray(large.swapaxes(1, 4)).reshape(large.shape)
    assert "order of the axes (0, 4, 2, 3, 1, 5)" in appearance(actual, large)


@pytest.mark.parametrize(
    ("operation", "sentence"),
    [
        (lambda x: x * 2, "times 2"),
        (lambda x: -x, "times -1"),
        (lambda x: x / 3, "times 1/3"),
        (lambda x: x / 255, "times 1/255"),
        (lambda x: x * 0.1, "times 1/10"),
        (lambda x: x + 1, "plus 1"),
        (lambda x: x - 0.5, "plus -1/2"),
    ],
)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_constant_factor_and_offset(operation: Any, sentence: str, dtype: str) -> None:
    expected = numbers(dtype)
    actual = operation(expected.astype(np.float64)).astype(dtype)
    assert appearance(actual, expected) == f"each element is the reference's {sentence}"


def test_factor_and_offset_of_integers() -> None:
    expected = numbers("int32")
    assert appearance(expected * 3, expected) == "each element is the reference's times 3"
    assert appearance(expected - 7, expected) == "each element is the reference's plus -7"
    assert appearance(expected // 2, expected) == ""


def test_rounding_of_float16() -> None:
    expected = NUMBERS.astype(np.float32) / 7
    actual = expected.astype(np.float16).astype(np.float32)
    assert appearance(actual, expected) == "each element is the reference's, rounded to a float16"
    half = expected.astype(np.float16)
    other = half.copy()
    other[0] = np.nextafter(other[0], np.float16(np.inf))
    assert "at most 1 ulp off: another rounding of a float16" in appearance(other, half)


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_uninitialized(fill: int, dtype: str) -> None:
    expected = numbers(dtype)
    actual = expected.copy()
    actual[1:] = np.frombuffer(bytes([fill]) * actual.itemsize, dtype)
    sentence = f"uninitialized: each byte of the wrong elements is 0x{fill:02X}"
    assert appearance(actual, expected, FILLS) == sentence


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([0, 0, 0, 0], [1, 2, 3, 4]),
        ([2, 1], [1, 2]),
        ([1, 0, 1, 0], [0, 1, 0, 1]),
        ([np.nan] * 4, [1, 2, 3, 4]),
        ([1, 2, 3, 5], [1, 2, 3, 4]),
    ],
)
def test_unknown_or_too_little_evidence(actual: list[float], expected: list[float]) -> None:
    assert appearance(np.array(actual, "float32"), np.array(expected, "float32"), FILLS) == ""


# ---- Never of something else ----

dtypes = st.sampled_from(["float16", "float32", "float64", "int8", "uint8", "int32", "int64"])
shapes = arrays.array_shapes(max_dims=4, max_side=4)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Array, Array]:
    """Draw an output and its reference: from few numbers, so that they are often alike."""
    dtype, shape = draw(dtypes), draw(shapes)
    low = 0 if dtype.startswith("u") else -2
    numbers = (
        st.integers(low, 3).map(float)
        if draw(st.booleans()) or "int" in dtype
        else st.floats(width=16)
    )
    made = arrays.arrays(np.float64, shape, elements=numbers)
    expected = draw(made).astype(dtype)
    changes = [
        lambda: draw(made).astype(dtype),
        lambda: after(expected, draw(st.sampled_from([-2, -1, 1, 2]))),
        lambda: expected[..., ::-1].copy(),
        lambda: (expected * draw(st.integers(0, 3))).astype(dtype),
        lambda: (expected + draw(st.integers(0, 3))).astype(dtype),
    ]
    actual = draw(st.sampled_from(changes))()
    if draw(st.booleans()):
        actual = actual.copy()
        actual.ravel()[draw(st.integers(0, actual.size - 1))] = draw(numbers)
    return actual, expected


def same(first: Any, second: Any) -> bool:
    return len(first) == len(second) and all(
        a == b or (a != a and b != b) for a, b in zip(first, second, strict=True)
    )


def is_true(sentence: str, actual: Array, expected: Array) -> bool:
    """Return whether a sentence is true, element by element."""
    if found := re.search(r"shifted by one (in memory|along axis (\d)): .* i ([-+]) 1", sentence):
        sides = [
            np.moveaxis(each, int(found[2]), -1).reshape(-1, each.shape[int(found[2])])
            if found[2]
            else each.reshape(1, -1)
            for each in (actual, expected)
        ]
        pairs_of_rows = zip(sides[0].tolist(), sides[1].tolist(), strict=True)
        later = found[3] == "-"
        return all(
            same(row[1:], other[:-1]) if later else same(row[:-1], other[1:])
            for row, other in pairs_of_rows
        )
    if found := re.search(r"order of the axes (\(.*\))", sentence):
        axes = eval(found[1])
        shape = [expected.shape[axis] for axis in axes]
        index = np.arange(expected.size).reshape(expected.shape)
        order = np.transpose(index, axes)
        assert [*np.shape(order)] == shape
        flat = expected.ravel().tolist()
        return same(actual.ravel().tolist(), [flat[i] for i in np.ravel(order)])
    if found := re.search(r"reference's (times|plus) (\S+)", sentence):
        by = float(Fraction(found[2]))
        made = [x * by if found[1] == "times" else x + by for x in expected.ravel().tolist()]
        return same(np.array(made).astype(expected.dtype).tolist(), actual.ravel().tolist())
    if found := re.search(r"those of an? (\w+), read as", sentence):
        return same(actual.view(found[1]).ravel().tolist(), expected.ravel().tolist())
    if "1 ulp off" in sentence:
        return int(ulp_distance(actual, expected).max()) == 1
    if "rounded to a float16" in sentence:
        return same(actual.ravel().tolist(), expected.astype("f2").ravel().tolist())
    return False


@settings(max_examples=400)
@given(pairs())
@pytest.mark.filterwarnings("ignore")
def test_sentence_is_true_and_has_evidence(pair: tuple[Array, Array]) -> None:
    actual, expected = pair
    sentence = appearance(actual, expected, FILLS)
    if sentence:
        assert is_true(sentence, actual, expected), sentence
        assert np.unique(expected).size >= 3
        assert not np.array_equal(actual, expected, equal_nan=expected.dtype.kind == "f")
