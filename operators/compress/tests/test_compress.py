"""Test cases of Compress, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with compress_reference.py.
"""

import numpy as np
import pytest
from compress_reference import NO_AXIS, output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, ramp, special

CONDITIONS = ([1, 0, 1], [0, 1], [1, 1, 1, 1])
CASES = [
    case
    for dtype in ("float16", "float32", "int32", "int64")
    for case in cases(
        shapes=[{"input": (4, 5, 6)}],
        values=[ramp()],
        params=[
            {"condition": condition, "axis": axis}
            for condition in CONDITIONS
            for axis in (0, 1, -1, NO_AXIS)
        ],
        dtype=dtype,
    )
] + [
    *cases(
        shapes=[{"input": (24,)}],
        values=[special()],
        params=[{"condition": 12 * [1, 0]}],
        dtype="float32",
    ),
    *cases(  # more slices than are found at a time
        shapes=[{"input": (2, 600)}],
        values=[ramp()],
        params=[{"condition": 200 * [1, 0, 1], "axis": 1}],
        dtype="float32",
    ),
]


# Elements are copied.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def compress(condition, axis=NO_AXIS):
    """Return the reference's output."""
    settings = {"condition": condition, "axis": axis}
    tensors = {"input": np.array([[1, 2], [3, 4], [5, 6]])}
    output_shapes({"input": (3, 2)}, settings)
    return reference(tensors, settings)["output"].tolist()


def test_reference():
    assert compress([0, 1, 1], 0) == [[3, 4], [5, 6]]
    assert compress([0, 1], 1) == compress([0, 1], -1) == [[2], [4], [6]]
    assert compress([1, 0, 0, 1]) == [1, 4]


@pytest.mark.parametrize(
    ("condition", "axis", "problem"),
    [
        ([1], 2, "axis must be a dimension of input"),
        ([1, 0, 1], 1, "condition must not be longer than the axis"),
        ([0, 0], 1, "condition must select a slice"),
        ([], NO_AXIS, "condition must select a slice"),
    ],
)
def test_invalid_params_are_refused(condition, axis, problem):
    with pytest.raises(ValueError, match=problem):
        compress(condition, axis)
