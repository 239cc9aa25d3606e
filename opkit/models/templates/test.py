"""Test cases of ${name}, for every kernel: shapes and params of $model's nodes.

`scons check` runs each case on the kernels and compares with ${lower}_reference.py.
docs/cases.md explains how to write cases.
"""

import pytest

from opkit.testing import cases, check_cpu_kernel, uniform

CASES = [
$cases
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)
