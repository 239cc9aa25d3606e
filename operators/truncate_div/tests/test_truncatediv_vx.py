"""Test cases of TruncateDiv for the VX kernel of RKNN-Toolkit 1.x: halves of one shape."""

import pytest

from opkit.testing import cases, check_vx_kernel, run_vx_kernel, special, uniform

# No special divisors: the VX kernel treats -0.0 as 0.0.
CASES = cases(
    shapes=[
        {"x": (1,), "y": (1,)},
        {"x": (7, 31), "y": (7, 31)},
        {"x": (1, 6, 5, 3), "y": (1, 6, 5, 3)},
    ],
    values=[uniform(-1, 1), uniform(-60000, 60000), {"x": special(), "y": uniform(-3, 3)}],
    dtype="float16",
)
BROADCAST = cases(
    shapes=[{"x": (1, 6, 5, 3), "y": (3,)}, {"x": (2, 3, 4), "y": (2, 1, 4)}],
    values=[uniform(-1, 1)],
    dtype="float16",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, max_ulp=0)


@pytest.mark.parametrize("case", BROADCAST, ids=str)
def test_vx_kernel_refuses_broadcasting(case):
    assert "the VX kernel does not broadcast" in run_vx_kernel(case).problem
