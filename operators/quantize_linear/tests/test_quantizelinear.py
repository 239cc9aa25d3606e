"""Test cases of QuantizeLinear, for every kernel: shapes and axes x numbers.

`scons check` runs each case on the CPU kernel and compares with quantizelinear_reference.py. The
type of the numbers is that of y in op.yml.
"""

from pathlib import Path

import numpy as np
import pytest
from quantizelinear_reference import output_shapes, reference

from opkit.testing import Case, Operator, check_cpu_kernel

DTYPE = np.dtype(Operator(Path(__file__).parents[1]).spec.outputs[0].dtype)
LIMITS = np.iinfo(DTYPE)
DEFAULTS = {"axis": 1, "block_size": 0, "output_dtype": 0, "precision": 0, "saturate": 1}
LAYOUTS = [  # x, y_scale, params
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


def cases(dtype):
    """Return a case of each layout; numbers in all places, and some saturate."""
    for shape, scales, params in LAYOUTS:
        random = np.random.default_rng(len(shape))
        reach = (LIMITS.max - LIMITS.min) * 0.6
        inputs = {
            "x": random.uniform(-reach, reach, shape).astype(dtype),
            "y_scale": random.uniform(0.5, 1.5, scales).astype(dtype),
            "y_zero_point": random.integers(LIMITS.min, LIMITS.max, scales, DTYPE, endpoint=True),
        }
        yield Case(f"{shape} {scales} {dtype.__name__} {params}", inputs, params)


CASES = [*cases(np.float32), *(cases(np.float16) if LIMITS.bits == 8 else ())]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def quantized(x, scale, zero, **params):
    """Return the reference's numbers; kernels compute the same."""
    inputs = {
        "x": np.array(x, np.float32),
        "y_scale": np.array(scale, np.float32),
        "y_zero_point": np.array(zero, DTYPE),
    }
    check_cpu_kernel(Case("given", inputs, params))
    return reference(inputs, {**DEFAULTS, **params})["y"].tolist()


def test_reference_rounds_half_to_even():
    assert quantized([1, 3, 5, -1, -3, 7.2], [2], [4]) == [4, 6, 6, 4, 2, 8]


def test_reference_saturates():
    x = [1e9, -1e9, np.inf, -np.inf, np.nan, LIMITS.max, LIMITS.min]
    highest, lowest = LIMITS.max, LIMITS.min
    expected = [highest, lowest, highest, lowest, lowest, highest, lowest]
    assert quantized(x, [1], [0]) == expected
    assert quantized(x[:5], [1], [highest]) == expected[:5]
    assert quantized(x[:5], [1], [lowest]) == expected[:5]


def test_reference_of_an_axis():
    assert quantized([[1, 2], [3, 4]], [1, 2], [0, 5]) == [[1, 6], [3, 7]]
    assert quantized([[1, 2], [3, 4]], [1, 2], [0, 5], axis=0) == [[1, 2], [7, 7]]


def test_reference_of_blocks():
    x, scale, zero = [[1, 2, 3], [4, 5, 6]], [[1, 0.5], [1, 2]], [[0, 1], [2, 3]]
    assert quantized(x, scale, zero, block_size=2) == [[1, 2, 7], [6, 7, 6]]


def test_output_dtype_may_be_given():
    number = {"uint8": 2, "int8": 3, "uint16": 4, "int16": 5}[DTYPE.name]
    assert quantized([3], [1], [0], output_dtype=number, saturate=0, precision=1) == [3]


VALID = {"x": (2, 3), "y_scale": (3,), "y_zero_point": (3,)}


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({"y_zero_point": (1,)}, {}, "y_zero_point that of y_scale"),
        ({}, {"axis": 0}, "one for each place along the axis"),
        ({"y_scale": (1, 3)}, {}, "one for each place along the axis"),
        ({}, {"axis": 2}, "axis must be a dimension of x"),
        ({}, {"axis": -3}, "axis must be a dimension of x"),
        ({}, {"block_size": 2}, "one for each block"),
    ],
)
def test_invalid_shapes_are_refused(shapes, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**VALID, **shapes}, {**DEFAULTS, **params})


@pytest.mark.parametrize(
    ("changes", "params", "problem"),
    [
        ({"x": np.int32([1])}, {}, "must be float16 or float32"),
        ({"y_scale": np.int32([1])}, {}, "must be float16 or float32"),
        ({"y_zero_point": np.int32([1])}, {}, "y must be int8, uint8, int16 or uint16"),
        ({"y_zero_point": np.int8([1])}, {"output_dtype": 2}, "must be 0 or the type of y"),
    ],
)
def test_other_types_are_refused(changes, params, problem):
    inputs = {"x": np.float32([1]), "y_scale": np.float32([1]), "y_zero_point": np.uint8([1])}
    with pytest.raises(ValueError, match=problem):
        reference({**inputs, **changes}, {**DEFAULTS, **params})
