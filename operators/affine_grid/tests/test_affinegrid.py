"""Test cases of AffineGrid, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with affinegrid_reference.py.
"""

import numpy as np
import pytest
from affinegrid_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, uniform

SIZES = {
    (2, 2, 3): [[2, 3, 4, 7], [2, 1, 1, 5], [2, 1, 6, 1], [2, 1, 5, 64]],
    (3, 3, 4): [[3, 2, 2, 3, 4], [3, 1, 1, 5, 3], [3, 1, 4, 1, 2], [3, 1, 3, 2, 1]],
}
EMPTY = [
    Case(
        "no images",
        {"theta": np.zeros((0, 2, 3), np.float32)},
        {"size": [0, 1, 4, 5], "align_corners": 1},
    ),
    Case("no columns", {"theta": np.ones((2, 2, 3), np.float32)}, {"size": [2, 1, 4, 0]}),
]
CASES = [
    case
    for dtype in ("float16", "float32")
    for shape, sizes in SIZES.items()
    for case in cases(
        shapes=[{"theta": shape}],
        values=[uniform(-2, 2)],
        params=[{"size": size, "align_corners": flag} for size in sizes for flag in (0, 1)],
        dtype=dtype,
    )
]
NOT_FINITE = [
    Case(
        str(element),
        {"theta": np.array([[[1, 2, element], [3e38, 3e38, 3e38]]], np.float32)},
        {"size": [1, 1, 3, 5], "align_corners": 1},
    )
    for element in (np.inf, np.nan)
]


# Both compute in double, in another order: near 0, the errors are those of the terms.
@pytest.mark.parametrize("case", CASES + NOT_FINITE + EMPTY, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=1e-14)


def grid(theta, size, align_corners=0):
    """Return the reference's output."""
    tensors = {"theta": np.array(theta, np.float32)}
    return reference(tensors, {"size": size, "align_corners": align_corners})["grid"]


IDENTITY = [[1, 0, 0], [0, 1, 0]]


def test_reference():
    assert grid([IDENTITY], [1, 1, 1, 2], 0).tolist() == [[[[-0.5, 0], [0.5, 0]]]]
    assert grid([IDENTITY], [1, 1, 2, 1], 1).tolist() == [[[[0, -1]], [[0, 1]]]]
    moved = grid([[[0, 2, 1], [3, 0, -1]]], [1, 1, 2, 2], 1)
    assert moved.tolist() == [[[[-1, -4], [-1, 2]], [[3, -4], [3, 2]]]]


def test_reference_of_3_dimensions():
    found = grid([np.eye(3, 4) * [[1], [2], [4]]], [1, 1, 2, 4, 2])
    assert found.shape == (1, 2, 4, 2, 3)
    assert found[0, 1, 3, 0].tolist() == [-0.5, 1.5, 2]


@pytest.mark.parametrize(
    ("theta", "params", "problem"),
    [
        ((2, 3), {}, "theta must be"),
        ((2, 2, 4), {}, "theta must be"),
        ((2, 4, 5), {}, "theta must be"),
        ((2, 2, 3), {"size": [2, 1, 4, 5, 6]}, "size must be"),
        ((2, 2, 3), {"size": [2, 1, 4, -1]}, "size must not be negative"),
        ((3, 2, 3), {}, "size must have the N of theta, 3, not 2"),
        ((2, 2, 3), {"align_corners": 2}, "align_corners must be 0 or 1"),
    ],
)
def test_invalid_calls_are_refused(theta, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"theta": theta}, {"size": [2, 1, 4, 5], "align_corners": 0, **params})


def test_integers_are_refused():
    tensors = {"theta": np.ones((1, 2, 3), np.int32)}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, {"size": [1, 1, 2, 2], "align_corners": 0})
