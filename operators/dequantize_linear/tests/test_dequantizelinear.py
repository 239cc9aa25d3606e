"""Test cases of DequantizeLinear, for every kernel: shapes and axes x types.

`scons check` runs each case on the CPU kernel and compares with dequantizelinear_reference.py.
"""

import numpy as np
import pytest
from dequantizelinear_reference import output_shapes, reference

from opkit.testing import Case, check_cpu_kernel

DEFAULTS = {"axis": 1, "block_size": 0, "output_dtype": 0}
LAYOUTS = [  # x, x_scale, params
    ((1,), (1,), {}),
    ((7, 331), (1,), {}),
    ((7, 331), (1,), {"axis": 9}),  # without effect
    ((2, 3, 5, 4), (3,), {}),
    ((2, 3, 5, 4), (5,), {"axis": -2}),
    ((9, 4), (9,), {"axis": 0}),
    ((3, 700), (700,), {}),  # more scales than are read at a time
    ((700,), (700,), {"axis": -1}),
    ((2, 1, 3), (1,), {}),
    ((2, 7, 3), (2, 3, 3), {"block_size": 3}),
    ((2, 3, 7), (2, 3, 3), {"block_size": 3, "axis": -1}),
    ((3, 8), (3, 2), {"block_size": 4}),
    ((3, 8), (1, 8), {"block_size": 9, "axis": 0}),
    ((2, 4, 600), (2, 2, 600), {"block_size": 2}),
    ((1, 5), (1, 1), {"block_size": 5}),
]
TYPES = [np.uint8, np.int8, np.uint16, np.int16, np.int32]


def integers(random, shape, dtype):
    """Return all numbers of a type."""
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def cases():
    """Return a case of each layout and type."""
    for dtype in TYPES:
        for number, (shape, scales, params) in enumerate(LAYOUTS):
            random = np.random.default_rng(number)
            inputs = {
                "x": integers(random, shape, dtype),
                "x_scale": random.uniform(0.5, 1.5, scales).astype(np.float32),
                "x_zero_point": integers(random, scales, dtype),
            }
            yield Case(f"{shape} {scales} {dtype.__name__} {params}", inputs, params)


CASES = [*cases()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def floats(x, scale, zero, dtype=np.int8, **params):
    """Return the reference's floats; kernels compute the same."""
    inputs = {
        "x": np.array(x, dtype),
        "x_scale": np.array(scale, np.float32),
        "x_zero_point": np.array(zero, dtype),
    }
    check_cpu_kernel(Case("given", inputs, params))
    return reference(inputs, {**DEFAULTS, **params})["y"].tolist()


def test_reference():
    assert floats([1, -128, 127], [0.5], [-128]) == [64.5, 0, 127.5]
    assert floats([1, 0, 255], [2], [255], np.uint8, output_dtype=1) == [-508, -510, 0]
    assert floats([2**31 - 1, -5], [1], [-1], np.int32) == [-(2**31), -4]


def test_reference_of_an_axis():
    assert floats([[1, 2], [3, 4]], [1, 2], [0, 5]) == [[1, -6], [3, -2]]
    assert floats([[1, 2], [3, 4]], [1, 2], [0, 5], axis=0) == [[1, 2], [-4, -2]]


def test_reference_of_blocks():
    x, scale, zero = [[1, 2, 3], [4, 5, 6]], [[1, 0.5], [1, 2]], [[0, 1], [2, 3]]
    assert floats(x, scale, zero, block_size=2) == [[1, 2, 1], [2, 3, 6]]


def test_scales_of_nan_and_infinity():
    found = floats([[1, 0, -1]], [np.nan, np.inf, -np.inf], [0, 0, 0])
    assert str(found) == "[[nan, nan, inf]]"


VALID = {"x": (2, 3), "x_scale": (3,), "x_zero_point": (3,)}


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({"x_zero_point": (1,)}, {}, "x_zero_point that of x_scale"),
        ({}, {"axis": 0}, "one for each place along the axis"),
        ({"x_scale": (1, 3)}, {}, "one for each place along the axis"),
        ({}, {"axis": 2}, "axis must be a dimension of x"),
        ({}, {"axis": -3}, "axis must be a dimension of x"),
        ({}, {"block_size": 2}, "one for each block"),
    ],
)
def test_invalid_shapes_are_refused(shapes, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**VALID, **shapes}, {**DEFAULTS, **params})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"x": np.int64([1])}, "x must be int8"),
        ({"x_zero_point": np.int8([1])}, "x_zero_point of its type"),
        ({"x_scale": np.int32([1])}, "must be float16 or float32"),
    ],
)
def test_other_types_are_refused(changes, problem):
    inputs = {"x": np.uint8([1]), "x_scale": np.float32([1]), "x_zero_point": np.uint8([1])}
    with pytest.raises(ValueError, match=problem):
        reference({**inputs, **changes}, DEFAULTS)
