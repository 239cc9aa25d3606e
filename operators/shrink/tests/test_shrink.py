"""Test cases of Shrink, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with shrink_reference.py.
"""

import numpy as np
import pytest
from shrink_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform, vary_params

CASES = cases(
    shapes=[{"input": (1,)}, {"input": (7, 31)}, {"input": (1, 6, 5, 3)}],
    values=[uniform(-5, 5), special()],
    params=vary_params(lambd=[1.5, -1.0], bias=[1.5, -0.25]),
    dtype="float16",
)
SINGLE = cases(
    shapes=[{"input": (100, 100)}],
    values=[
        uniform(-5, 5),
        special(),
    ],
    params=vary_params(lambd=[1.5, -1.0], bias=[1.5, -0.25]),
    dtype="float32",
)
ALL_HALVES = [Case("all-halves", {"input": np.arange(2**16, dtype=np.uint16).view(np.float16)})]


@pytest.mark.parametrize("case", CASES + ALL_HALVES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_cpu_kernel_float32(case):
    check_cpu_kernel(case)


def shrink(x, lambd=0.5, bias=0.0):
    """Return the reference's values at a list of numbers."""
    return reference({"input": np.float32(x)}, {"lambd": lambd, "bias": bias})["output"].tolist()


def test_reference():
    assert shrink([-2, -0.5, 0, 0.5, 2]) == [-2, 0, 0, 0, 2]
    assert shrink([-2, 0.5, 2], lambd=1.5, bias=1.5) == [-0.5, 0, 0.5]
    assert shrink([-np.inf, np.inf, np.nan], bias=1.0) == [-np.inf, np.inf, 0]


def test_reference_below_both_limits():
    assert shrink([0], lambd=-1.0, bias=0.25) == [0.25]


def test_integers_are_refused():
    with pytest.raises(ValueError, match="input must be float16 or float32"):
        reference({"input": np.int32([1])}, {})
