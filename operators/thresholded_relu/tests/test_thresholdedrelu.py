"""Test cases of ThresholdedRelu, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with thresholdedrelu_reference.py.
"""

import numpy as np
import pytest
from thresholdedrelu_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform, vary_params

CASES = cases(
    shapes=[{"x": (1,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 3)}],
    values=[uniform(-5, 5), special()],
    params=vary_params(alpha=[0.0, -2.5]),
    dtype="float16",
)
SINGLE = cases(
    shapes=[{"x": (100, 100)}],
    values=[
        uniform(-5, 5),
        special(),
    ],
    params=vary_params(alpha=[0.0, -2.5]),
    dtype="float32",
)
ALL_HALVES = [Case("all-halves", {"x": np.arange(2**16, dtype=np.uint16).view(np.float16)})]


@pytest.mark.parametrize("case", CASES + ALL_HALVES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_cpu_kernel_float32(case):
    check_cpu_kernel(case)


def thresholded_relu(x, alpha=1.0):
    """Return the reference's values at a list of numbers."""
    return reference({"x": np.float32(x)}, {"alpha": alpha})["y"].tolist()


def test_reference():
    assert thresholded_relu([-2, 1, 1.5, np.inf, np.nan]) == [0, 0, 1.5, np.inf, 0]
    assert thresholded_relu([-2, -3], alpha=-2.5) == [-2, 0]


def test_integers_are_refused():
    with pytest.raises(ValueError, match="x must be float16 or float32"):
        reference({"x": np.int32([1])}, {})
