"""Test cases of Atanh for the VX kernel of RKNN-Toolkit 1.x, which takes halves."""

import pytest

from opkit.testing import cases, check_vx_kernel, special, uniform

CASES = cases(
    shapes=[{"input": (8,)}, {"input": (7, 31)}, {"input": (1, 6, 5, 3)}],
    values=[uniform(-1, 1), special()],
    dtype="float16",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, max_ulp=1)
