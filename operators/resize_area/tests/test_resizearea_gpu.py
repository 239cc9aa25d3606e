"""The cases of ResizeArea on the GPU kernel, which is bit-exact: weights and sums as TensorFlow."""

import pytest
import resizearea_reference
from test_resizearea import CORNERS, LARGE, NCHW, NHWC, WHOLE_NUMBERS

from opkit.testing import check_gpu_kernel


@pytest.mark.parametrize("case", NHWC + CORNERS + LARGE + WHOLE_NUMBERS, ids=str)
def test_gpu_kernel(case):
    check_gpu_kernel(case, max_ulp=0)


@pytest.mark.parametrize("case", NCHW, ids=str)
def test_gpu_kernel_channels_first(case, monkeypatch):
    monkeypatch.setattr(resizearea_reference, "LAYOUT", "NCHW")
    check_gpu_kernel(case, max_ulp=0)
