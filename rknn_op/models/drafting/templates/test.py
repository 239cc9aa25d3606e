"""Test cases of ${name}: $contents.

`scons check` runs each case on $kernels and compares with ${lower}_reference.py.
docs/cases.md explains how to write cases.
"""

import pytest

from opkit.testing import $imports

$cases


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, $tolerance)
