"""Test cases of Trilu, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with trilu_reference.py.
"""

import numpy as np
import pytest
from trilu_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform

DIAGONALS = [
    {"k": k, "upper": upper} for k in (0, 1, -1, 3, -3, 7, -8, 2**20, -(2**20)) for upper in (0, 1)
]
CASES = cases(
    shapes=[{"input": (2, 4, 6)}, {"input": (6, 4)}],
    values=[uniform(-1, 1)],
    params=DIAGONALS,
    dtype="float32",
)
TYPES = [
    case
    for dtype in ("float16", "int32", "int64")
    for case in cases(
        shapes=[{"input": (2, 3, 5, 9)}, {"input": (1, 1)}],
        values=[uniform(-1000, 1000)],  # librknnrt 1.6.0 passes integers as float32
        params=[{}, {"k": -2, "upper": 0}],
        dtype=dtype,
    )
] + cases(shapes=[{"input": (9, 9)}], values=[special()], params=[{}], dtype="float32")


# Elements are copied.
@pytest.mark.parametrize("case", CASES + TYPES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def triangle(rows, **params):
    """Return the reference's output."""
    settings = {"k": 0, "upper": 1, **params}
    tensors = {"input": np.array(rows)}
    output_shapes({"input": tensors["input"].shape}, settings)
    return reference(tensors, settings)["output"].tolist()


def test_reference():
    rows = [[1, 2, 3], [4, 5, 6]]
    assert triangle(rows) == [[1, 2, 3], [0, 5, 6]]
    assert triangle(rows, k=1) == [[0, 2, 3], [0, 0, 6]]
    assert triangle(rows, upper=0) == [[1, 0, 0], [4, 5, 0]]
    assert triangle(rows, upper=0, k=-1) == [[0, 0, 0], [4, 0, 0]]


def test_invalid_calls_are_refused():
    with pytest.raises(ValueError, match="input must have 2 or more dimensions, not 1"):
        triangle([1, 2])
    with pytest.raises(ValueError, match="upper must be 0 or 1, not 2"):
        triangle([[1]], upper=2)
