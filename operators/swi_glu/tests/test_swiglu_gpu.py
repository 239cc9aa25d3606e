"""The cases of SwiGLU on the GPU kernel, whose functions are OpenCL's own."""

import pytest
from test_swiglu import CASES, SINGLE

from opkit.testing import check_gpu_kernel


# The exponential function has an error of 3 ulp, a quotient one of 2.5.
@pytest.mark.parametrize("case", CASES + SINGLE, ids=str)
def test_gpu_kernel(case):
    check_gpu_kernel(case, max_ulp=16)
