"""Test cases of TruncateDiv, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with truncatediv_reference.py.
"""

from pathlib import Path

import numpy as np
import pytest
from truncatediv_reference import output_shapes, reference

from opkit.repository import load
from opkit.testing import cases, check_cpu_kernel, special, uniform

EQUAL = [
    {"x": (1,), "y": (1,)},
    {"x": (7, 31), "y": (7, 31)},
    {"x": (1, 6, 5, 3), "y": (1, 6, 5, 3)},
]
BROADCAST = [
    {"x": (1, 6, 5, 3), "y": (3,)},
    {"x": (1,), "y": (4, 5)},
    {"x": (2, 3, 4), "y": (2, 1, 4)},
    {"x": (2, 1, 3, 1, 5, 1), "y": (1, 4, 1, 2, 1, 7)},
]
SHAPES = EQUAL + BROADCAST


NUMBERS = [uniform(-1, 1), uniform(-60000, 60000)]


def halves(shapes, values):
    """Return cases in half precision."""
    return cases(shapes=shapes, values=values, params=[{}], dtype="float16")


# A model for RKNN-Toolkit 1.x has no outputs of int32, which the math supports, too. RKNN-Toolkit2
# has no int16, and librknnrt 1.6.0 hands int32 over as floats, which are exact up to 2^24.
IS_FOR_RKNN2_ALONE = [*load(Path(__file__).parent.parent).runtimes] == ["rknn2"]
LIMITS = uniform(-(2**15), 2**15 - 1)
INTEGERS = cases(
    shapes=SHAPES,
    values=[
        {"x": LIMITS, "y": uniform(1, 1000)},
        {"x": LIMITS if IS_FOR_RKNN2_ALONE else special(), "y": uniform(-3, -1)},
    ],
    params=[{}],
    dtype="int32" if IS_FOR_RKNN2_ALONE else "int16",
)


@pytest.mark.parametrize("case", halves(SHAPES, [*NUMBERS, special()]), ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


@pytest.mark.parametrize("case", INTEGERS, ids=str)
def test_cpu_kernel_integers(case):
    check_cpu_kernel(case, max_ulp=0)


def divide(x, y, dtype):
    """Return the reference's result."""
    return reference({"x": np.array(x, dtype), "y": np.array(y, dtype)}, {})["output"]


def test_reference_rounds_toward_zero():
    x, y = [7, -7, 7, -7, 6, -1], [2, 2, -2, -2, 3, 2]
    assert divide(x, y, np.float32).tolist() == [3, -3, -3, 3, 2, 0]
    assert divide(x, y, np.int16).tolist() == [3, -3, -3, 3, 2, 0]
    assert divide(x, y, np.int32).tolist() == [3, -3, -3, 3, 2, 0]


def test_reference_follows_ieee_754():
    quotients = divide([1, -1, 0, -1], [0, 0, 0, 2], np.float32)
    assert str(quotients.tolist()) == "[inf, -inf, nan, -0.0]"


def test_reference_integer_limits():
    assert divide([-(2**15), 2**15 - 1], [-1, -1], np.int16).tolist() == [-(2**15), 1 - 2**15]
    assert divide([-(2**31), 2**31 - 1], [-1, -1], np.int32).tolist() == [-(2**31), 1 - 2**31]
    with pytest.raises(ZeroDivisionError, match="y must not hold 0"):
        divide([1], [0], np.int32)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes_broadcast_like_numpy(shapes):
    expected = np.broadcast(np.empty(shapes["x"]), np.empty(shapes["y"])).shape
    assert output_shapes(shapes, {}) == {"output": expected}


def test_mismatched_shapes_are_refused():
    with pytest.raises(ValueError, match=r"cannot broadcast \(2, 3\) and \(2,\)"):
        output_shapes({"x": (2, 3), "y": (2,)}, {})
