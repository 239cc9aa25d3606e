"""Test cases of Selu, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with selu_reference.py.
"""

import numpy as np
import pytest
from selu_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform, vary_params

ALPHA, GAMMA = np.float32([1.6732631921768188, 1.0507010221481323])
CASES = cases(
    shapes=[{"x": (1,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 3)}],
    values=[uniform(-5, 5), special()],
    params=vary_params(alpha=[0.5], gamma=[-2.0]),
    dtype="float16",
)
SINGLE = cases(
    shapes=[{"x": (100, 100)}],
    values=[
        uniform(-20, 20),  # results down to -gamma * alpha
        uniform(-1e-3, 1e-3),  # e^x - 1 without cancellation
        special(),
    ],
    dtype="float32",
)
ALL_HALVES = [Case("all-halves", {"x": np.arange(2**16, dtype=np.uint16).view(np.float16)})]


@pytest.mark.parametrize("case", CASES + ALL_HALVES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


# 1 ulp of e^x - 1, and half of one for each of two products.
@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_cpu_kernel_float32(case):
    check_cpu_kernel(case, max_ulp=2)


def selu(x, alpha=ALPHA, gamma=GAMMA):
    """Return the reference's values at a list of numbers."""
    return reference({"x": np.float32(x)}, {"alpha": alpha, "gamma": gamma})["y"]


def test_reference():
    assert selu([-np.inf, 0, 1, np.inf]).tolist() == [-ALPHA * GAMMA, 0, GAMMA, np.inf]
    assert selu([-1], alpha=2, gamma=3).tolist() == [np.float32(6 * np.expm1(-1.0))]
    assert np.isnan(selu([np.nan])).all()


def test_reference_near_zero():
    slope = float(ALPHA) * float(GAMMA)
    tiny = np.float32([-1e-30, -1e-10])
    assert selu(tiny).tolist() == (tiny.astype(float) * slope).astype(np.float32).tolist()


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference({"x": np.int32([1])}, {})
