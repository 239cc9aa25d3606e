"""The cases of RotaryEmbedding on the GPU kernel."""

import pytest
from test_rotaryembedding import CASES, SPECIAL

from opkit.testing import check_gpu_kernel


# As on the CPU: the kernel rounds both products, of numbers up to 1, to float32, or the first one
# alone with a fused multiply-add, and the terms may cancel.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gpu_kernel(case):
    check_gpu_kernel(case, max_ulp=1, max_error=1e-7)


# The products are up to 3e38, of which half an ulp is 1e31: the error of each product.
@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_gpu_kernel_special_values(case):
    check_gpu_kernel(case, max_ulp=1, max_error=2.1e31)
