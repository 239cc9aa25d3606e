"""Test cases of Shrink for the VX kernel of RKNN-Toolkit 1.x, which takes halves."""

import pytest

from opkit.testing import cases, check_vx_kernel, special, uniform, vary_params

CASES = cases(
    shapes=[{"input": (8,)}, {"input": (7, 31)}, {"input": (1, 6, 5, 3)}],
    values=[uniform(-5, 5), special()],
    params=vary_params(lambd=[1.5, -1.0], bias=[1.5, -0.25]),
    dtype="float16",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, max_ulp=1)
