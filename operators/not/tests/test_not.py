"""Test cases of Not, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with not_reference.py.
"""

import numpy as np
import pytest
from not_reference import reference

from opkit.testing import cases, check_cpu_kernel, uniform

CASES = cases(
    shapes=[{"x": (1,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 3)}],
    values=[uniform(0, 1)],
    dtype="bool",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def test_reference():
    assert reference({"x": np.bool_([0, 1])}, {})["y"].tolist() == [True, False]


def test_other_types_are_refused():
    with pytest.raises(ValueError, match="x must be bool"):
        reference({"x": np.int32([1])}, {})
