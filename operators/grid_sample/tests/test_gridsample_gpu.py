"""The cases of GridSample on the GPU kernel, whose weights are float32 instead of float64."""

import pytest
from test_gridsample import ALL_METHODS, NEAREST, SHAPES, SPECIAL, SUM, VOLUMES

from opkit.testing import check_gpu_kernel

# Within 2^-25 of a pixel, a location in float32 is on it. Then its neighbor has weight 0; in the
# reference a tiny weight, with which infinity is infinity.
FLOAT_SPECIAL = [case for case in SPECIAL if not case.name.startswith("not-finite-cubic")]


@pytest.mark.parametrize("case", ALL_METHODS + VOLUMES + FLOAT_SPECIAL + SHAPES, ids=str)
def test_gpu_kernel(case):
    nearest = case.params.get("mode") == "nearest"
    check_gpu_kernel(case, max_ulp=0 if nearest else 1, max_error=0 if nearest else 2 * SUM)


@pytest.mark.parametrize("case", NEAREST, ids=str)
def test_gpu_kernel_copies_pixels(case):
    check_gpu_kernel(case, max_ulp=0)
