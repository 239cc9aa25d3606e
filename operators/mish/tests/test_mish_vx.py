"""Test cases of Mish for the VX kernel of RKNN-Toolkit 1.x, which takes halves."""

import pytest

from opkit.testing import cases, check_vx_kernel, special, uniform

CASES = cases(
    shapes=[{"x": (8,)}, {"x": (3, 20)}, {"x": (1, 6, 5, 3)}],
    values=[uniform(-1, 1), uniform(-30, 30), special()],
    dtype="float16",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, max_ulp=1)
