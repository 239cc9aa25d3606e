"""The cases that every kernel of ${name} has to pass: shapes x values x params.

`scons check` runs each of them on both kernels and compares with ${lower}_reference.py.
"""

import pytest

from opkit.testing import cases, check_cpu_kernel, check_vx_kernel, special, uniform

CASES = cases(
    shapes=[
$shapes
    ],
    values=[uniform(-1, 1), special()],
    params=[
$params
    ],
    dtype="float16",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, max_ulp=0)
