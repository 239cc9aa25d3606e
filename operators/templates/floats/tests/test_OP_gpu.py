"""The cases of {{ spec.name }} on the GPU kernel, whose functions are OpenCL's own."""

import pytest
from test_{{ lower }} import CASES, SINGLE

from opkit.testing import check_gpu_kernel


# OpenCL's functions have errors of up to 5 ulp (tanh), and sums of them that cancel have more.
@pytest.mark.parametrize("case", CASES + SINGLE, ids=str)
def test_gpu_kernel(case):
    check_gpu_kernel(case, max_ulp=16)
