"""Test cases of Reciprocal for the VX kernel of RKNN-Toolkit 1.x, which takes halves."""

import pytest

from opkit.testing import cases, check_vx_kernel, uniform

CASES = cases(
    shapes=[{"x": (8,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 3)}],
    values=[uniform(-5, 5), uniform(100, 60000)],
    dtype="float16",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, max_ulp=1)
