"""Test cases of ${name}, for every kernel: shapes x values x params.

`scons check` runs each case on $kernels and compares with ${lower}_reference.py.
docs/cases.md explains how to write cases.
"""

import pytest

from opkit.testing import $imports

CASES = cases(
    shapes=[
$shapes
    ],
    values=[$values],
    # $base of op.yml, then one other value at a time.
    params=$params,
$dtype
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)
$other_tests