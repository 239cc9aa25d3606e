"""Test cases of GlobalLpPool, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with globallppool_reference.py.
"""

import numpy as np
import pytest
from globallppool_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, uniform

CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[{"x": (2, 3, 8, 9)}, {"x": (1, 2, 1)}, {"x": (2, 1, 3, 2, 5)}],
        values=[uniform(-1, 1)],
        params=[{}, {"p": 1}, {"p": 3}, {"p": 10}],
        dtype=dtype,
    )
]
EXTREMES = [
    Case(str(element), {"x": np.array([[[1, element] + [0.5] * 20]], np.float32)}, {"p": p})
    for element in (np.inf, -np.inf, np.nan, 3e38, 1e-38)
    for p in (1, 2, 3)
]


# Both add double, in another order, and round once.
@pytest.mark.parametrize("case", CASES + EXTREMES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


def test_reference():
    x = np.array([[[3, -4], [1, -1]]], np.float32)
    assert reference({"x": x}, {"p": 1})["y"].tolist() == [[[7], [2]]]
    assert reference({"x": x}, {"p": 2})["y"].tolist() == [[[5], [np.float32(2**0.5)]]]
    assert reference({"x": x}, {"p": 3})["y"].tolist() == pytest.approx(
        np.array([[[91 ** (1 / 3)], [2 ** (1 / 3)]]])
    )


def test_matrices_are_refused():
    with pytest.raises(ValueError, match="with 3 dimensions or more"):
        output_shapes({"x": (2, 3)}, {"p": 2})


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference({"x": np.ones((1, 1, 4), np.int32)}, {"p": 2})
