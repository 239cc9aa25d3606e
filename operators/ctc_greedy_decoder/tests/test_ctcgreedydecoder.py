"""Test cases of CTCGreedyDecoder, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with ctcgreedydecoder_reference.py.
"""

import numpy as np
import pytest
from ctcgreedydecoder_reference import output_shapes, reference

from opkit.testing import Values, cases, check_cpu_kernel, integers, special, uniform, vary_params


def peaks(classes):
    """Return scores of which neighboring positions often have the same best class."""

    def make(shape, dtype, random, _):
        best = random.integers(0, classes, shape[:2]).repeat(2, axis=1)[:, : shape[1], np.newaxis]
        noise = random.uniform(-1, 0, shape)
        return (noise + 2 * (best == np.arange(shape[2]))).astype(dtype)

    return Values("peaks", f"peaks({classes})", make)


DTYPES = {dtype: {"data": dtype, "sequence_length": "int32"} for dtype in ("float32", "float16")}
CASES = [
    case
    for dtype in DTYPES.values()
    for count, length, classes in ((3, 12, 4), (1, 30, 37), (2, 7, 16), (1, 1, 1))
    for case in cases(
        shapes=[{"data": (count, length, classes), "sequence_length": (count,)}],
        values=[
            {"data": values, "sequence_length": integers(length // 2, length)}
            for values in (peaks(classes), uniform(-1, 1), integers(0, 1))
        ],
        params=vary_params(blank_index=[0]),
        dtype=dtype,
    )
]
SPECIAL = cases(
    shapes=[{"data": (4, 9, size), "sequence_length": (4,)} for size in (3, 5, 19)],
    values=[{"data": special(), "sequence_length": integers(0, 9)}],
    dtype=DTYPES["float32"],
)


# Both add scores in double, from the first position on.
@pytest.mark.parametrize("case", CASES + SPECIAL, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


SETTINGS = {"blank_index": -1, "merge_repeated": 1}


def decoded(path, classes=4, length=None, **params):
    """Return the reference's labels and score of a path of classes."""
    data = np.full((1, len(path), classes), -2, np.float32)
    data[0, np.arange(len(path)), path] = -1
    lengths = np.array([len(path) if length is None else length], np.int32)
    found = reference({"data": data, "sequence_length": lengths}, {**SETTINGS, **params})
    labels, [count] = found["classes_index"][0], found["count"]
    assert np.all(labels[count:] == -1)
    return labels[:count].tolist(), found["score"].tolist()[0]


def test_reference_labels():
    assert decoded([3, 0, 0, 3, 0, 1, 1, 2]) == ([0, 0, 1, 2], -8)
    assert decoded([3, 0, 0, 3, 0, 1, 1, 2], merge_repeated=0)[0] == [0, 0, 0, 1, 1, 2]
    assert decoded([0, 0, 3, 3, 1], blank_index=0) == ([3, 1], -5)
    assert decoded([0, 1, 2], length=2) == ([0, 1], -2)
    assert decoded([0, 1, 2], length=0) == ([], 0)


def test_reference_ties_and_nan():
    data = np.array([[[0, 1, 1], [np.nan, 0, -1], [np.nan] * 3]], np.float32)
    inputs = {"data": data, "sequence_length": np.array([2], np.int32)}
    assert reference(inputs, SETTINGS)["classes_index"].tolist() == [[1, -1, -1]]
    inputs["sequence_length"][0] = 3
    assert reference(inputs, SETTINGS)["classes_index"].tolist() == [[1, 0, -1]]


@pytest.mark.parametrize(
    ("data", "lengths", "params", "problem"),
    [
        ((5, 3), (5,), {}, "data must be"),
        ((1, 5, 0), (1,), {}, "data must be"),
        ((2, 5, 3), (1,), {}, "sequence_length must be"),
        ((2, 5, 3), (2,), {"blank_index": 3}, "blank_index must be -1 or a class, not 3"),
    ],
)
def test_invalid_shapes_are_refused(data, lengths, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"data": data, "sequence_length": lengths}, {**SETTINGS, **params})


@pytest.mark.parametrize("length", [-1, 4])
def test_invalid_lengths_are_refused(length):
    with pytest.raises(ValueError, match="must be from 0 to T"):
        decoded([0, 1, 2], length=length)


def test_integers_are_refused():
    inputs = {"data": np.ones((1, 2, 3), np.int32), "sequence_length": np.array([2], np.int32)}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(inputs, SETTINGS)
