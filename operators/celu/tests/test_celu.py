"""Test cases of Celu, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with celu_reference.py.
"""

import numpy as np
import pytest
from celu_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform, vary_params

CASES = cases(
    shapes=[{"x": (1,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 3)}],
    values=[uniform(-5, 5), special()],
    params=vary_params(alpha=[0.3, -2.0]),
    dtype="float16",
)
SINGLE = cases(
    shapes=[{"x": (100, 100)}],
    values=[
        uniform(-20, 20),  # results down to -alpha
        uniform(-1e-3, 1e-3),  # e^x - 1 without cancellation
        special(),
    ],
    params=vary_params(alpha=[0.3, -2.0]),
    dtype="float32",
)
ALL_HALVES = [Case("all-halves", {"x": np.arange(2**16, dtype=np.uint16).view(np.float16)})]


@pytest.mark.parametrize("case", CASES + ALL_HALVES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


# 1 ulp of e^x - 1, and the errors of x / alpha and of the product.
@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_cpu_kernel_float32(case):
    check_cpu_kernel(case, max_ulp=4)


def celu(x, alpha=1.0):
    """Return the reference's values at a list of numbers."""
    return reference({"x": np.float32(x)}, {"alpha": alpha})["y"]


def test_reference():
    assert celu([-np.inf, 0, 1, np.inf], alpha=2.0).tolist() == [-2, 0, 1, np.inf]
    assert celu([-1], alpha=2.0).tolist() == [np.float32(2 * np.expm1(-0.5))]
    assert celu([-1e-30], alpha=0.5).tolist() == [np.float32(-1e-30)]
    assert np.isnan(celu([np.nan])).all()


def test_integers_are_refused():
    with pytest.raises(ValueError, match="x must be float16 or float32"):
        reference({"x": np.int32([1])}, {})
