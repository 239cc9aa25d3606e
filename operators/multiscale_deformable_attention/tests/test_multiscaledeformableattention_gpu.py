"""The cases of MultiscaleDeformableAttention on the GPU kernel."""

import pytest
from test_multiscaledeformableattention import CASES, SPECIAL

from opkit.testing import check_gpu_kernel


# As on the CPU, with sums in another order: up to 400 products of numbers up to 0.1, and each
# product and each sum, which is below 2 here, is rounded to float32. 800 roundings of 2^-24, of
# random signs, are sqrt(800) * 2^-24 = 1.7e-6.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gpu_kernel(case):
    check_gpu_kernel(case, max_ulp=1, max_error=4e-6)


# The same with numbers up to 1e38: the largest one of each sum counts.
@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_gpu_kernel_special(case):
    check_gpu_kernel(case, max_ulp=8, max_error=4e-6)
