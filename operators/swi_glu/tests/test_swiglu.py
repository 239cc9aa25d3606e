"""Test cases of SwiGLU, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with swiglu_reference.py.
"""

import numpy as np
import pytest
from swiglu_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform, vary_params

SHAPES = [
    {"a": (7, 31), "b": (7, 31)},
    {"a": (1, 6, 5, 3), "b": (3,)},
    {"a": (2, 1, 4), "b": (3, 1)},
]
PARAMS = vary_params(alpha=[0.3, -1.7])
CASES = cases(
    shapes=SHAPES,
    values=[uniform(-9, 9), {"a": special(), "b": uniform(-3, 3)}],
    params=PARAMS,
    dtype="float16",
)
SINGLE = cases(
    shapes=[{"a": (100, 100), "b": (100, 100)}],
    values=[
        {"a": uniform(-1, 1), "b": uniform(-1, 1)},
        {"a": uniform(-9, 9), "b": uniform(-30, 30)},
        {"a": special(), "b": uniform(-3, 3)},
        {"a": uniform(-3, 3), "b": special()},
    ],
    params=PARAMS,
    dtype="float32",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


# alpha * a, rounded to float32, is off by up to 2^-21 for |alpha * a| up to 16.
@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_cpu_kernel_float32(case):
    check_cpu_kernel(case, max_ulp=10, max_error=1e-37)


def gated(a, b, alpha=1.0):
    """Return the reference's values at lists of numbers."""
    return reference({"a": np.float32(a), "b": np.float32(b)}, {"alpha": alpha})["y"].tolist()


def test_reference():
    assert gated([0, 1, 100], [5, 3, -2]) == [0, np.float32(3 / (1 + np.exp(-1))), -200]
    assert gated([2], [-1], alpha=0.5) == [np.float32(-2 / (1 + np.exp(-1)))]


def test_integers_are_refused():
    with pytest.raises(ValueError, match="a and b must be float16 or float32"):
        reference({"a": np.int32([1]), "b": np.float32([1])}, {"alpha": 1.0})


def test_mismatched_shapes_are_refused():
    with pytest.raises(ValueError, match="shape mismatch"):
        output_shapes({"a": (2, 3), "b": (2,)}, {})
