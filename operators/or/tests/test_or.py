"""Test cases of Or, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with or_reference.py.
"""

import numpy as np
import pytest
from or_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, uniform

CASES = cases(
    shapes=[
        {"a": (1,), "b": (1,)},
        {"a": (7, 31), "b": (7, 31)},
        {"a": (1, 6, 5, 3), "b": (3,)},
        {"a": (2, 1, 4), "b": (3, 1)},
        {"a": (1,), "b": (4, 5)},
    ],
    values=[uniform(0, 1)],
    dtype="bool",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def test_reference():
    a, b = np.bool_([[0, 0, 1, 1], [0, 1, 0, 1]])
    assert reference({"a": a, "b": b}, {})["c"].tolist() == [False, True, True, True]


def test_other_types_are_refused():
    with pytest.raises(ValueError, match="a and b must be bool"):
        reference({"a": np.int32([1]), "b": np.int32([1])}, {})


def test_mismatched_shapes_are_refused():
    with pytest.raises(ValueError, match="shape mismatch"):
        output_shapes({"a": (2, 3), "b": (2,)}, {})
