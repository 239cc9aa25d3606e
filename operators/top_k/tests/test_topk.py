"""Test cases of TopK, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with topk_reference.py.
"""

import numpy as np
import pytest
from topk_reference import output_shapes, reference

from opkit.testing import (
    Case,
    cases,
    check_cpu_kernel,
    integers,
    ramp,
    special,
    uniform,
    vary_params,
)

CASES = cases(
    shapes=[{"x": (3, 300, 5)}],  # 300: several blocks
    values=[uniform(-1, 1)],
    params=[
        *vary_params({"k": 2}, k=[5], axis=[0, 1], largest=[0], sorted=[0]),
        {"k": 5, "axis": 1},
    ],
    dtype="float32",
)
TIES = cases(
    shapes=[{"x": (2, 1000)}],
    values=[integers(-9, 9), special()],
    params=[{"k": k, "largest": largest} for k in (1, 130, 1000) for largest in (0, 1)],
    dtype="float16",
)
LONG = [
    *cases(
        shapes=[{"x": (2, 3000)}],  # long enough for a floor below which no element is sorted
        values=[uniform(-1, 1), integers(-9, 9), special()],
        params=[{"k": 100, "largest": largest} for largest in (0, 1)],
        dtype="float32",
    ),
    Case("equal", {"x": np.ones((1, 3000), np.float32)}, {"k": 100}),  # all reach the floor
]
OUTLIERS = np.random.default_rng(0).uniform(1, 2, (1, 3000)).astype(np.float32)
OUTLIERS[0, 70:72] = 9, -9  # in a block that is not among those of the sample
LONG += [
    Case("outliers", {"x": OUTLIERS}, {"k": 100}),
    # More elements reach the floor than are sorted.
    Case("halves", {"x": np.round(OUTLIERS.repeat(2, 1))}, {"k": 100}),
]
WAYS = cases(
    # The best elements in a list; or in a heap; or sorted, with all others or above a floor.
    shapes=[{"x": (2, length)} for length in (200, 400, 2500)],
    values=[uniform(100, 101), ramp()],
    params=[{"k": k} for k in (32, 33)] + [{"k": 150, "largest": 0}],
    dtype="float32",
) + cases(
    shapes=[{"x": (1, 2500)}],
    values=[uniform(100, 101), ramp()],
    params=[{"k": 1000}, {"k": 1200}],
    dtype="float32",
)
INTEGERS = [
    case
    for dtype in ("int32", "int64")
    for case in cases(
        shapes=[{"x": (2, 200, 3)}],
        values=[uniform(-1000, 1000)],  # librknnrt 1.6.0 passes integers as float32
        params=[{"k": 20, "axis": 1, "largest": largest} for largest in (0, 1)],
        dtype={"x": dtype, "values": dtype},
    )
]
NAN, INF = float("nan"), float("inf")
NOT_FINITE = [
    Case(f"not-finite-{largest}", {"x": np.array(row, np.float32)}, {"k": 6, "largest": largest})
    for largest in (0, 1)
    for row in [[0.0, -NAN, -INF, NAN, -0.0, INF]]
]


# Elements are copied.
@pytest.mark.parametrize("case", CASES + TIES + LONG + WAYS + INTEGERS + NOT_FINITE, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def top(x, dtype=np.float32, **params):
    """Return the reference's indices."""
    settings = {"k": 2, "axis": -1, "largest": 1, "sorted": 1, **params}
    found = reference({"x": np.array(x, dtype)}, settings)
    taken = np.take_along_axis(np.array(x, dtype), found["indices"], settings["axis"])
    assert np.array_equal(found["values"], taken, equal_nan=True)
    return found["indices"].tolist()


def test_reference_order():
    assert top([3, 1, 4, 1, 5]) == [4, 2]
    assert top([3, 1, 4, 1, 5], largest=0) == [1, 3]
    assert top([[3, 1], [4, 2]], k=1, axis=0) == [[1, 1]]


def test_reference_ties_and_nan():
    assert top([2, 2, 2]) == top([2, 2, 2], largest=0) == [0, 1]
    assert top([-0.0, 0.0]) == [0, 1]
    assert top([INF, NAN, 1, NAN], k=4) == [1, 3, 0, 2]
    assert top([INF, NAN, 1, NAN], k=4, largest=0) == [2, 0, 1, 3]


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"k": 0}, "k must be 1 or more"),
        ({"k": 4}, "at most the length of the axis, 3; not 4"),
        ({"axis": 2}, "axis must be a dimension of x"),
        ({"largest": 2}, "largest must be 0 or 1, not 2"),
        ({"sorted": -1}, "sorted must be 0 or 1, not -1"),
    ],
)
def test_invalid_params_are_refused(params, problem):
    settings = {"k": 1, "axis": -1, "largest": 1, "sorted": 1, **params}
    with pytest.raises(ValueError, match=problem):
        output_shapes({"x": (2, 3)}, settings)


def test_other_types_are_refused():
    with pytest.raises(ValueError, match="x must be float16, float32, int32 or int64"):
        top([1, 2], np.int8)
