"""Test cases of Gelu, for every kernel: shapes x values x forms.

`scons check` runs each case on the CPU kernel and compares with gelu_reference.py.
"""

import math

import numpy as np
import pytest
from gelu_reference import reference

from opkit.testing import cases, check_cpu_kernel, special, uniform, vary_params

FORMS = vary_params()
CASES = cases(
    shapes=[{"x": (1,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 3)}],
    values=[uniform(-6, 6), special()],
    params=FORMS,
    dtype="float16",
)
SINGLE = cases(
    shapes=[{"x": (100, 100)}],
    values=[uniform(-10, 10), uniform(-1e-3, 1e-3), special()],
    params=FORMS,
    dtype="float32",
)


# For x < 0, the sum of 1 and erf or tanh is small, and has errors of 1's last digits.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=4e-7)


@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_cpu_kernel_float32(case):
    check_cpu_kernel(case, max_ulp=3, max_error=4e-7)


def gelu(x, approximate="none"):
    """Return the reference's values at a list of numbers."""
    return reference({"x": np.float32(x)}, {"approximate": approximate})["y"]


def test_reference():
    assert gelu([0, 1, np.inf]).tolist() == [0, np.float32(0.5 + 0.5 * math.erf(0.5**0.5)), np.inf]
    assert np.isnan(gelu([-np.inf, np.nan])).all()  # -inf * 0
    x = np.linspace(-5, 5, 101)
    difference = gelu(x, "tanh") - gelu(x)
    assert 1e-4 < np.abs(difference).max() < 1e-3  # an approximation


def test_integers_are_refused():
    with pytest.raises(ValueError, match="x must be float16 or float32"):
        reference({"x": np.int32([1])}, {"approximate": "none"})
