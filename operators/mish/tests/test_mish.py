"""Test cases of Mish, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with mish_reference.py.
"""

import numpy as np
import pytest
from mish_reference import reference

from opkit.testing import cases, check_cpu_kernel, special, uniform

SHAPES = [{"x": (8,)}, {"x": (3, 20)}, {"x": (1, 6, 5, 3)}]
VALUES = [uniform(-1, 1), uniform(-30, 30), special()]

CASES = cases(shapes=SHAPES, values=VALUES, params=[{}], dtype="float16")
FLOATS = cases(shapes=SHAPES, values=VALUES, params=[{}], dtype="float32")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


@pytest.mark.parametrize("case", FLOATS, ids=str)
def test_cpu_kernel_floats(case):
    check_cpu_kernel(case, max_ulp=4)


def test_reference():
    x = np.array([0, 1, -1, 20, -20], np.float32)
    expected = [0, 0.86509839, -0.30340146, 20, -4.12230723e-08]
    np.testing.assert_allclose(reference({"x": x}, {})["y"], expected, rtol=1e-6)


def test_integers_are_refused():
    with pytest.raises(ValueError, match="x must be float16 or float32"):
        reference({"x": np.int32([1])}, {})
