"""Test cases of DynamicQuantizeLinear, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with dynamicquantizelinear_reference.py.
"""

import numpy as np
import pytest
from dynamicquantizelinear_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform

CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[{"x": (1,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 30)}, {"x": (16,)}],
        values=[uniform(-5, 3), uniform(0.5, 60), uniform(-1e-3, -1e-4), special()],
        dtype=dtype,
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def quantized(*x):
    """Return the reference's numbers, step and zero point; kernels compute the same."""
    inputs = {"x": np.array(x, np.float32)}
    check_cpu_kernel(Case("given", inputs, {}))
    y, scale, zero = reference(inputs, {}).values()
    return y.tolist(), scale.tolist(), zero.tolist()


def test_reference_range():
    assert quantized(0, 51, 255, 25.5) == ([0, 51, 255, 26], [1], [0])
    assert quantized(-100, 155, 0.5, 1.5) == ([0, 255, 100, 102], [1], [100])


def test_reference_of_one_sign():
    assert quantized(510, 255) == ([255, 128], [2], [0])
    assert quantized(-510, -255) == ([0, 127], [2], [255])


def test_reference_of_zeros():
    assert quantized(0, -0.0) == ([0, 0], [1], [0])


def test_nan_does_not_count():
    assert quantized(np.nan, 255, -0.0) == ([0, 255, 0], [1], [0])


def test_integers_are_refused():
    with pytest.raises(ValueError, match="x must be float16 or float32"):
        reference({"x": np.int32([1])}, {})
