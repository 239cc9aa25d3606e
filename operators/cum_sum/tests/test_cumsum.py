"""Test cases of CumSum, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with cumsum_reference.py.
"""

import numpy as np
import pytest
from cumsum_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform, vary_params

DIRECTIONS = [
    {"exclusive": exclusive, "reverse": reverse} for exclusive in (0, 1) for reverse in (0, 1)
]
CASES = cases(
    shapes=[{"x": (3, 70, 5)}, {"x": (2, 75, 20)}],  # 20: a strip, and columns of their own
    values=[uniform(-1, 1)],
    params=[{"axis": axis, **each} for axis in (0, 1, -1) for each in DIRECTIONS],
    dtype="float32",
)
HALVES = cases(
    shapes=[{"x": (1,)}, {"x": (2, 9, 520)}],  # 520: more columns than one pass takes
    values=[uniform(-1, 1), special()],
    params=vary_params({"axis": -1}, axis=[0], exclusive=[1], reverse=[1]),
    dtype="float16",
)
INTEGERS = [
    case
    for dtype in ("int32", "int64")
    for case in cases(
        shapes=[{"x": (2, 9, 520)}],
        values=[uniform(-1000, 1000)],  # librknnrt 1.6.0 passes integers as float32
        params=[{"axis": 1, "exclusive": 1, "reverse": 0}, {"axis": 2, "reverse": 1}],
        dtype=dtype,
    )
]


# The reference adds float64. The kernel does for a single column; in a strip, it adds up to 32
# floats between two steps of precision. Their sum is below 16 here, where half a ulp is 2^-21.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=32 * 2**-21)


# Sums of so few halves are exact in float32.
@pytest.mark.parametrize("case", HALVES + INTEGERS, ids=str)
def test_cpu_kernel_is_exact(case):
    check_cpu_kernel(case, max_ulp=0)


def test_precision_of_long_sums():
    """Sums of thousands of floats lose no digits between the steps of precision."""
    x = np.full((4096, 16), 0.1, np.float32)
    params = {"axis": 0, "exclusive": 0, "reverse": 0}
    check_cpu_kernel(Case("long", {"x": x}, params), max_ulp=8)


def sums(x, dtype=np.float32, **params):
    """Return the reference's sums."""
    settings = {"axis": 0, "exclusive": 0, "reverse": 0, **params}
    return reference({"x": np.array(x, dtype)}, settings)["y"].tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_reference_directions(dtype):
    assert sums([1, 2, 3], dtype) == [1, 3, 6]
    assert sums([1, 2, 3], dtype, exclusive=1) == [0, 1, 3]
    assert sums([1, 2, 3], dtype, reverse=1) == [6, 5, 3]
    assert sums([1, 2, 3], dtype, exclusive=1, reverse=1) == [5, 3, 0]


def test_reference_axes():
    assert sums([[1, 2], [3, 4]], axis=0) == sums([[1, 2], [3, 4]], axis=-2) == [[1, 2], [4, 6]]
    assert sums([[1, 2], [3, 4]], axis=1) == sums([[1, 2], [3, 4]], axis=-1) == [[1, 3], [3, 7]]


def test_reference_limits():
    assert sums([2**31 - 1, 1], np.int32) == [2**31 - 1, -(2**31)]
    assert sums([1e8] + [1] * 8)[-1] == 1e8 + 8  # in float32, 1e8 + 1 is 1e8
    assert str(sums([np.inf, -np.inf, 1])) == "[inf, nan, nan]"


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"axis": 2}, "axis must be -2 to 1, not 2"),
        ({"axis": -3}, "axis must be -2 to 1, not -3"),
        ({"exclusive": 2}, "exclusive must be 0 or 1, not 2"),
        ({"reverse": -1}, "reverse must be 0 or 1, not -1"),
    ],
)
def test_invalid_params_are_refused(params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"x": (2, 3)}, {"axis": 0, "exclusive": 0, "reverse": 0, **params})


def test_other_types_are_refused():
    with pytest.raises(ValueError, match="x must be float16, float32, int32, uint32 or int64"):
        sums([1], np.int8)
