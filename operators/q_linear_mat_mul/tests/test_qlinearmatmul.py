"""Test cases of QLinearMatMul, for every kernel: shapes x scales and zero points x types.

`scons check` runs each case on the CPU kernel and compares with qlinearmatmul_reference.py.
"""

import itertools

import numpy as np
import pytest
from qlinearmatmul_reference import output_shapes, reference

from opkit.testing import Case, check_cpu_kernel

NAMES = ("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
SHAPES = [  # a, b, b_scale, b_zero_point
    ((1, 1), (1, 1), (1,), (1,)),
    ((5, 7), (7, 3), (3,), (1,)),
    ((3, 300), (300, 70), (70,), (70,)),  # more terms and columns than a block has
    ((131, 9), (9, 65), (1,), (65,)),  # more rows
    ((2, 3, 4, 33), (33, 5), (5,), (5,)),
    ((3, 1, 2, 6), (1, 2, 6, 4), (1,), (1,)),
]
TYPES = [*itertools.product([np.int8, np.uint8], repeat=2)]


def integers(random, shape, dtype):
    """Return all numbers of a type."""
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def cases():
    """Return a case of each shape and pair of types; some results saturate."""
    for number, (shapes, (left, right)) in enumerate(itertools.product(SHAPES, TYPES)):
        random = np.random.default_rng(number)
        a, b, b_scale, b_zero = shapes
        step = 100.0 * a[-1] ** 0.5  # of numbers as large as the sums
        inputs = {
            "a": integers(random, a, left),
            "a_scale": random.uniform(0.5, 2, 1).astype(np.float32),
            "a_zero_point": integers(random, 1, left),
            "b": integers(random, b, right),
            "b_scale": random.uniform(0.5, 2, b_scale).astype(np.float32),
            "b_zero_point": integers(random, b_zero, right),
            "y_scale": random.uniform(step / 2, step, 1).astype(np.float32),
            "y_zero_point": integers(random, 1, left),
        }
        yield Case(f"{a} {b} {left.__name__} {right.__name__} {b_scale} {b_zero}", inputs, {})


CASES = [*cases()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def inputs_of(a, b, scales, zeros):
    """Return inputs of int8."""
    arrays = [np.int8(a), np.int8(b)]
    found = dict(zip(("a", "b"), arrays, strict=True))
    for name, scale, zero in zip("aby", scales, zeros, strict=True):
        found[f"{name}_scale"] = np.float32([scale])
        found[f"{name}_zero_point"] = np.int8([zero])
    return {name: found[name] for name in NAMES}


def test_reference_rounds_half_to_even():
    inputs = inputs_of([[1], [3], [5], [-1], [-3]], [[1]], (1, 1, 2), (0, 0, 0))
    assert reference(inputs, {})["y"].ravel().tolist() == [0, 2, 2, 0, -2]
    check_cpu_kernel(Case("half", inputs, {}))


def test_reference_saturates():
    inputs = inputs_of([[10, -2]], [[100, -100], [7, 0]], (0.5, 4, 2), (0, 0, -3))
    assert reference(inputs, {})["y"].tolist() == [[127, -128]]
    check_cpu_kernel(Case("saturated", inputs, {}))


def test_reference_has_zero_points():
    inputs = inputs_of([[10, -2]], [[4, 5], [6, 1]], (0.5, 0.5, 0.25), (3, 2, -5))
    assert reference(inputs, {})["y"].tolist() == [[7 * 2 - 5 * 4 - 5, 7 * 3 + 5 - 5]]


def test_a_scale_of_nan_gives_the_lower_limit():
    inputs = inputs_of([[10, -2]], [[4, 5], [6, 1]], (np.nan, 0.5, 0.25), (3, 2, -5))
    assert reference(inputs, {})["y"].tolist() == [[-128, -128]]
    check_cpu_kernel(Case("nan", inputs, {}))


@pytest.mark.parametrize(
    ("shapes", "problem"),
    [
        ({"a": (3,)}, "a must be"),
        ({"b": (4, 5)}, "a must be"),
        ({"a_scale": (2,)}, "of a and y must be one number"),
        ({"y_zero_point": (5,)}, "of a and y must be one number"),
        ({"b_scale": (4,)}, "must be one number or"),
        ({"b_zero_point": (1, 5)}, "must be one number or"),
    ],
)
def test_invalid_shapes_are_refused(shapes, problem):
    valid = {**dict.fromkeys(NAMES, (1,)), "a": (2, 3), "b": (3, 5), "b_scale": (5,)}
    with pytest.raises(ValueError, match=problem):
        output_shapes({**valid, **shapes}, {})


@pytest.mark.parametrize(
    ("name", "dtype", "problem"),
    [
        ("a", np.int16, "must be int8 or uint8"),
        ("y_zero_point", np.uint8, "must be of the types of a, b and y"),
        ("b_scale", np.int32, "must be float16 or float32"),
    ],
)
def test_other_types_are_refused(name, dtype, problem):
    inputs = inputs_of([[1]], [[1]], (1, 1, 1), (0, 0, 0))
    with pytest.raises(ValueError, match=problem):
        reference({**inputs, name: inputs[name].astype(dtype)}, {})
