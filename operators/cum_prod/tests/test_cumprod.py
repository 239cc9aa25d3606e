"""Test cases of CumProd, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with cumprod_reference.py.
"""

import numpy as np
import pytest
from cumprod_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform

DIRECTIONS = [
    {"exclusive": exclusive, "reverse": reverse} for exclusive in (0, 1) for reverse in (0, 1)
]
CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[{"x": (3, 70, 5)}, {"x": (2, 9, 520)}],  # 520: more columns than one pass takes
        values=[uniform(0.9, 1.1)],
        params=[{"axis": axis, **each} for axis in (0, 1, -1) for each in DIRECTIONS],
        dtype=dtype,
    )
]
SPECIAL = cases(
    shapes=[{"x": (1,)}, {"x": (30, 4)}],
    values=[special()],
    params=[{"axis": 0, **each} for each in DIRECTIONS],
    dtype="float32",
)
INTEGERS = [
    case
    for dtype in ("int32", "int64")
    for case in cases(
        shapes=[{"x": (2, 3, 520)}],
        values=[uniform(-50, 50)],  # librknnrt 1.6.0 passes integers as float32
        params=[{"axis": 1, "exclusive": 1}, {"axis": 1, "reverse": 1}],
        dtype=dtype,
    )
]


@pytest.mark.parametrize("case", CASES + SPECIAL + INTEGERS, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def test_range_of_long_products():
    """A product may leave the range of float32, and come back."""
    x = np.array([1e30] * 5 + [1e-30] * 5, np.float32).reshape(10, 1)
    check_cpu_kernel(Case("long", {"x": x}, {"axis": 0}), max_ulp=0)


def products(x, dtype=np.float32, **params):
    """Return the reference's products."""
    settings = {"axis": 0, "exclusive": 0, "reverse": 0, **params}
    return reference({"x": np.array(x, dtype)}, settings)["y"].tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_reference_directions(dtype):
    assert products([2, 3, 5], dtype) == [2, 6, 30]
    assert products([2, 3, 5], dtype, exclusive=1) == [1, 2, 6]
    assert products([2, 3, 5], dtype, reverse=1) == [30, 15, 5]
    assert products([2, 3, 5], dtype, exclusive=1, reverse=1) == [15, 5, 1]


def test_reference_axes():
    for axis, expected in [(0, [[2, 3], [10, 21]]), (1, [[2, 6], [5, 35]])]:
        assert products([[2, 3], [5, 7]], axis=axis) == expected
        assert products([[2, 3], [5, 7]], axis=axis - 2) == expected


def test_reference_limits():
    assert products([2**31 - 1, 2], np.int32) == [2**31 - 1, -2]
    assert products([1e30, 1e30, 1e-30])[1:] == [np.inf, pytest.approx(1e30)]
    assert str(products([np.inf, 0, 1])) == "[inf, nan, nan]"


@pytest.mark.parametrize("axis", [2, -3])
def test_invalid_axis_is_refused(axis):
    with pytest.raises(ValueError, match=f"axis must be -2 to 1, not {axis}"):
        output_shapes({"x": (2, 3)}, {"axis": axis, "exclusive": 0, "reverse": 0})


def test_other_types_are_refused():
    with pytest.raises(ValueError, match="x must be float16, float32, int32, uint32 or int64"):
        products([1], np.int8)
