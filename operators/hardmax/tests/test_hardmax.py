"""Test cases of Hardmax, for every kernel: shapes x values x axes.

`scons check` runs each case on the CPU kernel and compares with hardmax_reference.py.
"""

import numpy as np
import pytest
from hardmax_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, integers, special, uniform


def row_with(elements):
    """Return a row of 51 elements below 1, with others at some places."""
    row = np.linspace(-1, 0.9, 51, dtype=np.float32)
    for place, element in elements.items():
        row[place] = element
    return row


AXES = [{"axis": axis} for axis in (0, 1, -1)]
CASES = [
    case
    for dtype in ("float16", "float32")
    for case in cases(
        shapes=[
            {"input": (3, 37, 5)},
            {"input": (2, 3, 300)},
            {"input": (1, 7)},
            {"input": (1, 2, 1, 3, 2, 2)},
        ],
        values=[uniform(-9, 1), integers(-2, 2)],  # many equal maxima
        params=AXES,
        dtype=dtype,
    )
]
CASES += cases(  # more elements than are cleared at a time
    shapes=[{"input": (70, 300)}], values=[uniform(-9, 1)], params=[{}], dtype="float32"
)
SPECIAL = cases(
    shapes=[{"input": (8, 3)}, {"input": (3, 8)}],
    values=[special()],
    params=[{"axis": 0}, {}],
    dtype="float32",
)
ROWS = [
    Case(
        f"row {i}, axis {axis}", {"input": np.array(row, np.float32).reshape(shape)}, {"axis": axis}
    )
    for i, row in enumerate(
        [
            [-0.0, 0.0],  # equal
            [-np.inf, -np.inf, -1e38],
            [1, np.inf, np.inf],
            [np.inf, np.nan, -np.nan],
            [-1e-45, -1e-44, 1e-45],
        ]
    )
    for axis, shape in ((1, (1, -1)), (0, (-1, 1)))
]
# Rows that are searched in 16 lanes, with a rest.
PLACES = [(3, 18), (18, 35), (20, 34), (47, 50), (49, 50), (34, 5)]
LONG = [
    Case(f"{a} and {b}", {"input": np.stack([row_with({i: a, j: b}) for i, j in PLACES])}, {})
    for a, b in ((2, 2), (2, np.nan), (np.nan, 3), (np.nan, np.nan), (np.inf, np.nan))
]
COLUMNS = [
    Case(
        f"columns {i}",
        {"input": np.stack([case.inputs["input"].ravel()] * 3, 1)},
        {"axis": 0},
    )
    for i, case in enumerate(ROWS[::2])
]


# 0 and 1 are exact.
@pytest.mark.parametrize("case", CASES + SPECIAL + ROWS + LONG + COLUMNS, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def hardmax(rows, axis=-1):
    """Return the reference's output."""
    return reference({"input": np.array(rows, np.float32)}, {"axis": axis})["output"].tolist()


def test_reference():
    assert hardmax([[1, 3, 2], [3, 3, 0]]) == [[0, 1, 0], [1, 0, 0]]
    assert hardmax([[1, 3, 2], [3, 3, 0]], axis=0) == [[0, 1, 1], [1, 0, 0]]
    assert hardmax([[-0.0, 0.0], [np.inf, np.nan]]) == [[1, 0], [0, 1]]


@pytest.mark.parametrize("axis", [2, -3])
def test_other_axes_are_refused(axis):
    with pytest.raises(ValueError, match="axis must be from -rank to rank - 1"):
        output_shapes({"input": (2, 3)}, {"axis": axis})


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference({"input": np.int32([1])}, {"axis": 0})
