"""Test cases of Asinh, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with asinh_reference.py.
"""

import numpy as np
import pytest
from asinh_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform

CASES = cases(
    shapes=[{"input": (1,)}, {"input": (7, 31)}, {"input": (1, 6, 5, 3)}],
    values=[uniform(-30, 30), special()],
    dtype="float16",
)
SINGLE = cases(
    shapes=[{"input": (100, 100)}],
    values=[
        uniform(-10, 10),
        uniform(-1e-3, 1e-3),
        uniform(-3e38, 3e38),
        special(),
    ],
    dtype="float32",
)
ALL_HALVES = [Case("all-halves", {"input": np.arange(2**16, dtype=np.uint16).view(np.float16)})]


@pytest.mark.parametrize("case", CASES + ALL_HALVES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


# 1 ulp of the logarithm, and the error of its argument.
@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_cpu_kernel_float32(case):
    check_cpu_kernel(case, max_ulp=2)


def values(numbers):
    """Return the reference's values at a list of numbers."""
    return reference({"input": np.float32(numbers)}, {})["output"]


def test_reference():
    expected = [0, np.float32(1e-30), -2, np.inf, -np.inf]
    assert values([0, 1e-30, np.sinh(-2), np.inf, -np.inf]).tolist() == expected
    assert np.isnan(values([np.nan])).all()


def test_integers_are_refused():
    with pytest.raises(ValueError, match="input must be float16 or float32"):
        reference({"input": np.int32([1])}, {})
