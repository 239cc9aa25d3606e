"""Test cases of Ceil, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with ceil_reference.py.
"""

import numpy as np
import pytest
from ceil_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform

CASES = cases(
    shapes=[{"x": (1,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 3)}],
    values=[uniform(-5, 5), special()],
    dtype="float16",
)
SINGLE = cases(
    shapes=[{"x": (100, 100)}],
    values=[
        uniform(-100, 100),
        uniform(-2e7, 2e7),  # also without a fraction
        special(),
    ],
    dtype="float32",
)
ALL_HALVES = [Case("all-halves", {"x": np.arange(2**16, dtype=np.uint16).view(np.float16)})]


@pytest.mark.parametrize("case", CASES + ALL_HALVES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_cpu_kernel_float32(case):
    check_cpu_kernel(case)


def values(numbers):
    """Return the reference's values at a list of numbers."""
    return reference({"x": np.float32(numbers)}, {})["y"]


def test_reference():
    assert values([-1.5, -1, 0, 0.5, 2.5, np.inf]).tolist() == [-1, -1, 0, 1, 3, np.inf]
    assert np.isnan(values([np.nan])).all()
    assert np.signbit(values([-0.5, -0.0])).all()


def test_integers_are_refused():
    with pytest.raises(ValueError, match="x must be float16 or float32"):
        reference({"x": np.int32([1])}, {})
