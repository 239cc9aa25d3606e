"""Test cases of IsInf, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with isinf_reference.py.
"""

import numpy as np
import pytest
from isinf_reference import reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform, vary_params

SHAPES = [{"x": (1,)}, {"x": (7, 31)}, {"x": (1, 6, 5, 3)}]
PARAMS = [*vary_params(detect_negative=[0], detect_positive=[0])]
CASES = [
    case
    for dtype in ("float16", "float32")
    for case in cases(
        shapes=SHAPES,
        values=[uniform(-5, 5), special()],
        params=PARAMS,
        dtype={"x": dtype, "y": "bool"},
    )
]
ALL_HALVES = [Case("all-halves", {"x": np.arange(2**16, dtype=np.uint16).view(np.float16)})]


@pytest.mark.parametrize("case", CASES + ALL_HALVES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def is_inf(detect_negative, detect_positive):
    """Return the reference's values at infinities and other numbers."""
    x = np.float32([np.inf, -np.inf, 3e38, 0, np.nan])
    params = {"detect_negative": detect_negative, "detect_positive": detect_positive}
    return reference({"x": x}, params)["y"].tolist()


def test_reference():
    assert is_inf(1, 1) == [True, True, False, False, False]
    assert is_inf(0, 1) == [True, False, False, False, False]
    assert is_inf(1, 0) == [False, True, False, False, False]
    assert is_inf(0, 0) == [False, False, False, False, False]


def test_integers_are_refused():
    with pytest.raises(ValueError, match="x must be float16 or float32"):
        reference({"x": np.int32([1])}, {})
