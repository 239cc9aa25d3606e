"""Test cases of IsNaN, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with isnan_reference.py.
"""

import numpy as np
import pytest
from isnan_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform

SHAPES = [{"x": (1,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 3)}]
CASES = [
    case
    for dtype in ("float16", "float32")
    for case in cases(
        shapes=SHAPES, values=[uniform(-5, 5), special()], dtype={"x": dtype, "y": "bool"}
    )
]
ALL_HALVES = [Case("all-halves", {"x": np.arange(2**16, dtype=np.uint16).view(np.float16)})]


@pytest.mark.parametrize("case", CASES + ALL_HALVES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def test_reference():
    x = np.float32([np.nan, -np.nan, np.inf, 0, 1])
    assert reference({"x": x}, {})["y"].tolist() == [True, True, False, False, False]


def test_integers_are_refused():
    with pytest.raises(ValueError, match="x must be float16 or float32"):
        reference({"x": np.int32([1])}, {})
