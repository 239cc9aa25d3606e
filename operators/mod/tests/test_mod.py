"""Test cases of Mod, for every kernel: shapes x values x fmod.

`scons check` runs each case on the CPU kernel and compares with mod_reference.py.
"""

import numpy as np
import pytest
from mod_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform

SHAPES = [
    {"a": (1,), "b": (1,)},
    {"a": (7, 31), "b": (7, 31)},
    {"a": (1, 6, 5, 3), "b": (3,)},
    {"a": (2, 1, 4), "b": (3, 1)},
    {"a": (4, 5), "b": (1,)},
]
SIGNS = [{"fmod": 0}, {"fmod": 1}]
FLOATS = [
    case
    for dtype in ("float16", "float32")
    for case in cases(
        shapes=SHAPES,
        values=[
            uniform(-5, 5),
            {"a": uniform(-60000, 60000), "b": uniform(-1e-3, 1e-3)},  # large quotients
            special(),
        ],
        params=SIGNS,
        dtype=dtype,
    )
]
# Beyond 2^24, librknnrt 1.6.0 does not hand over integers.
INTEGERS = [
    case
    for dtype in ("int32", "int64")
    for case in cases(
        shapes=SHAPES,
        values=[
            {"a": uniform(-1000, 1000), "b": uniform(1, 9)},
            {"a": uniform(-(2**24), 2**24), "b": uniform(-1000, -1)},
        ],
        params=SIGNS,
        dtype=dtype,
    )
]


@pytest.mark.parametrize("case", FLOATS + INTEGERS, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def mod(a, b, fmod, dtype):
    """Return the reference's values."""
    return reference({"a": np.array(a, dtype), "b": np.array(b, dtype)}, {"fmod": fmod})["c"]


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_reference_has_the_sign_of_divisor_or_dividend(dtype):
    a, b = [7, -7, 7, -7, 6], [3, 3, -3, -3, 3]
    assert mod(a, b, 0, dtype).tolist() == [1, 2, -2, -1, 0]
    assert mod(a, b, 1, dtype).tolist() == [1, -1, 1, -1, 0]


def test_reference_of_floats():
    assert mod([5, -3, -0.0], [np.inf, np.inf, 2], 0, np.float32).tolist() == [5, np.inf, 0]
    assert mod([5, -3], [np.inf, np.inf], 1, np.float32).tolist() == [5, -3]
    assert np.isnan(mod([1, np.inf, np.nan], [0, 2, 1], 0, np.float32)).all()


def test_limits_of_integers():
    assert mod([-(2**31)], [-1], 0, np.int32).tolist() == [0]
    assert mod([2**63 - 1], [-(2**63)], 0, np.int64).tolist() == [-1]


def test_other_types_are_refused():
    with pytest.raises(ValueError, match="a and b must be float16, float32, int32 or int64"):
        mod([1], [1], 0, np.int8)


def test_divisors_of_0_are_refused():
    with pytest.raises(ValueError, match="b must not have a 0"):
        mod([1, 1], [1, 0], 0, np.int32)


def test_other_values_of_fmod_are_refused():
    with pytest.raises(ValueError, match="fmod must be 0 or 1, not 2"):
        output_shapes({"a": (1,), "b": (1,)}, {"fmod": 2})
