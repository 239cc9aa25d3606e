"""Test cases of ResizeArea for the VX kernel of RKNN-Toolkit 1.x: one image of halves, in NHWC."""

import pytest
import resizearea_reference
from test_resizearea import SIZES

from opkit.testing import cases, check_vx_kernel, run_vx_kernel, special, uniform

CASES = cases(
    shapes=[
        {"input": (1, 1, 1, 1)},
        {"input": (1, 6, 5, 3)},
        {"input": (1, 4, 9, 4)},
        {"input": (1, 9, 12, 17)},
    ],
    values=[uniform(-1, 1), special()],
    params=SIZES,
    dtype="float16",
)
IMAGES = cases(
    shapes=[{"input": (2, 13, 7, 1)}],
    values=[uniform(-1, 1), special()],
    params=SIZES,
    dtype="float16",
)
CHANNELS_FIRST = cases(
    shapes=[{"input": (1, 3, 6, 5)}], values=[uniform(-1, 1)], params=SIZES[:1], dtype="float16"
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, max_ulp=1)


@pytest.mark.parametrize("case", IMAGES, ids=str)
def test_vx_kernel_refuses_batch(case):
    assert "the VX kernel resizes one image" in run_vx_kernel(case).problem


def test_vx_kernel_refuses_channels_first(monkeypatch):
    monkeypatch.setattr(resizearea_reference, "LAYOUT", "NCHW")
    assert "the VX kernel resizes one image" in run_vx_kernel(CHANNELS_FIRST[0]).problem
