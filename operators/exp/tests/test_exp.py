"""Test cases of Exp, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with exp_reference.py.
"""

import numpy as np
import pytest
from exp_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform

CASES = cases(
    shapes=[
        {"input": (1,)},
        {"input": (7, 31)},
        {"input": (1, 6, 5, 3)},
        {"input": (2, 1, 3, 1, 5, 1)},
    ],
    values=[
        uniform(-1, 1),
        uniform(-18, 12),  # half results from 0 to infinity
        special(),
    ],
    params=[{}],
    dtype="float16",
)
ALL_HALVES = np.arange(2**16, dtype=np.uint16).view(np.float16)
CASES += [Case("all-halves", {"input": ALL_HALVES})]
SINGLE = cases(
    shapes=[{"input": (1, 6, 5, 3)}, {"input": (100, 1000)}],
    values=[
        uniform(-80, 80),
        uniform(-104, -86),  # subnormal results, and 0
        uniform(88, 89),  # the largest results, and infinity
        special(),
    ],
    params=[{}],
    dtype="float32",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


@pytest.mark.parametrize("case", SINGLE, ids=str)
def test_cpu_kernel_float32(case):
    check_cpu_kernel(case, max_ulp=1)


def test_reference():
    x = np.array([0, 1, -1, np.inf, -np.inf, 100], np.float32)
    expected = np.array([1, 2.7182817, 0.36787945, np.inf, 0, np.inf], np.float32)
    assert reference({"input": x}, {})["output"].tolist() == expected.tolist()
    assert np.isnan(reference({"input": x * np.nan}, {})["output"]).all()


def test_integers_are_refused():
    with pytest.raises(ValueError, match="input must be float16 or float32"):
        reference({"input": np.int32([1])}, {})
