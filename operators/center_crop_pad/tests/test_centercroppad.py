"""Test cases of CenterCropPad, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with centercroppad_reference.py.
"""

import numpy as np
import pytest
from centercroppad_reference import ALL_AXES, output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, ramp, special

CASES = [
    case
    for dtype in ("float16", "float32", "int32", "int64")
    for case in cases(
        shapes=[{"input_data": (5, 6, 4)}],
        values=[ramp()],
        params=[
            {"shape": [2, 9, 4]},
            {"shape": [8, 3, 1]},
            {"shape": [7], "axes": [-1]},
            {"shape": [3, 9], "axes": [2, 0]},
        ],
        dtype=dtype,
    )
] + cases(
    shapes=[{"input_data": (24,)}],
    values=[special()],
    params=[{"shape": [20]}, {"shape": [31]}],
    dtype="float32",
)


# Elements are copied.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def center(shape, axes=ALL_AXES):
    """Return the reference's output."""
    settings = {"shape": shape, "axes": axes}
    tensors = {"input_data": np.array([[1, 2, 3, 4], [5, 6, 7, 8]])}
    return reference(tensors, settings)["output_data"].tolist()


def test_reference():
    assert center([1, 2]) == [[2, 3]]
    assert center([1], [1]) == center([1], [-1]) == [[2], [6]]
    assert center([3, 4]) == [[1, 2, 3, 4], [5, 6, 7, 8], [0, 0, 0, 0]]
    assert center([2, 7]) == [[0, 1, 2, 3, 4, 0, 0], [0, 5, 6, 7, 8, 0, 0]]


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"shape": [1]}, "shape must have an item for each axis"),
        ({"shape": [1, 0]}, "shape must be above 0"),
        ({"shape": [1], "axes": [2]}, "axes must be different dimensions"),
        ({"shape": [1, 1], "axes": [1, -1]}, "axes must be different dimensions"),
    ],
)
def test_invalid_params_are_refused(params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"input_data": (2, 4)}, {"axes": ALL_AXES, **params})
