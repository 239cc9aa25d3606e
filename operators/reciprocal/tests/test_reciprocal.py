"""Test cases of Reciprocal, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with reciprocal_reference.py.
"""

import numpy as np
import pytest
from reciprocal_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform

CASES = cases(
    shapes=[{"x": (1,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 3)}],
    values=[uniform(-5, 5), special()],
    dtype="float16",
)
SINGLE = cases(
    shapes=[{"x": (100, 100)}],
    values=[
        uniform(-5, 5),
        uniform(-1e-38, 1e-38),  # to infinity
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
    assert values([2, -0.25, 0.0, -0.0, -np.inf]).tolist() == [0.5, -4, np.inf, -np.inf, 0]
    assert np.isnan(values([np.nan])).all()


def test_integers_are_refused():
    with pytest.raises(ValueError, match="x must be float16 or float32"):
        reference({"x": np.int32([1])}, {})
