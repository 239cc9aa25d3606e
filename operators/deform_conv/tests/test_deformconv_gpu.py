"""The cases of DeformConv on the GPU kernel."""

import pytest
from test_deformconv import CASES, NOT_FINITE, SPECIAL

from opkit.testing import check_gpu_kernel


# As on the CPU, where partial sums of blocks are shorter: a sum of n products of numbers up to 1
# stays below about sqrt(n), and each addition rounds it to 2^-24 of that. For the 630 products of
# the largest case that is 630 * 25 * 2^-24 = 1e-3 if all errors add up, and sqrt(630) * 25 * 2^-24
# = 4e-5 if they are independent.
@pytest.mark.parametrize("case", [*CASES, *SPECIAL, NOT_FINITE], ids=str)
def test_gpu_kernel(case):
    check_gpu_kernel(case, max_ulp=1, max_error=4e-5)
