"""The cases of Col2Im on the GPU kernel, which adds in the same order as the reference."""

import pytest
from test_col2im import CASES, SPECIAL

from opkit.testing import check_gpu_kernel


@pytest.mark.parametrize("case", CASES + SPECIAL, ids=str)
def test_gpu_kernel(case):
    check_gpu_kernel(case, max_ulp=0)
