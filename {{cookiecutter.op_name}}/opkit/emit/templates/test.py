"""The cases that every kernel of ${name} has to pass: shapes x values x params.

`scons check` runs each of them on $kernels and compares with ${lower}_reference.py.
"""

import pytest

from opkit.testing import cases, check_cpu_kernel, ${vx_import}special, uniform

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
$vx_test