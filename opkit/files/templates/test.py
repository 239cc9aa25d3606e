"""The cases that every kernel of ${name} has to pass: shapes x values x params.

`scons check` runs each of them on $kernels and compares with ${lower}_reference.py. How
cases are written is in docs/cases.md.
"""

import pytest

from opkit.testing import $imports

CASES = cases(
    shapes=[
$shapes
    ],
    values=[$values],
    params=[
$params
    ],
$dtype
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)
$other_tests