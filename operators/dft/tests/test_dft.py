"""Test cases of DFT, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with dft_reference.py.
"""

import numpy as np
import pytest
from dft_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, uniform

# Powers of 2, other products, primes, and lengths of Bluestein's algorithm; 9 rows: more than one
# block of them.
LENGTHS = (1, 2, 6, 8, 15, 31, 32, 74, 97)
CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[{"input": (9, length, parts)} for length in LENGTHS for parts in (1, 2)],
        values=[uniform(-1, 1)],
        params=[{"inverse": inverse} for inverse in (0, 1)],
        dtype=dtype,
    )
]
AXES = cases(
    shapes=[{"input": (3, 5, 4, parts)} for parts in (1, 2)],
    values=[uniform(-1, 1)],
    params=[
        {"axis": axis, "dft_length": length, "inverse": inverse}
        for axis, length, inverse in [(0, 0, 0), (1, 3, 0), (1, 7, 1), (-2, 0, 1), (-4, 4, 0)]
    ],
    dtype="float32",
)
ONESIDED = [
    case
    for inverse in (0, 1)
    for case in cases(
        shapes=[{"input": (3, side, 2, 1 + inverse)} for side in (2, 5, 6)],
        values=[uniform(-1, 1)],
        params=[
            {"axis": 1, "onesided": 1, "inverse": inverse, "dft_length": length}
            for length in (0, 4, 9)
        ],
        dtype="float32",
    )
]


# Both compute in double, in another order: near 0, the errors are those of the terms.
@pytest.mark.parametrize("case", CASES + AXES + ONESIDED, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=1e-13)


SETTINGS = {"dft_length": 0, "axis": -1, "inverse": 0, "onesided": 0}


def transform(numbers, **params):
    """Return the reference's transform of real or complex numbers."""
    array = np.array(numbers, np.float32)
    rows = array.reshape(1, len(array), -1)
    return reference({"input": rows}, {**SETTINGS, **params})["output"][0].tolist()


def test_reference():
    assert transform([1, 2, 3]) == pytest.approx(
        np.array([[6, 0], [-1.5, 0.75**0.5], [-1.5, -(0.75**0.5)]]), abs=1e-6
    )
    assert transform([1, 2], dft_length=1) == [[1, 0]]
    assert transform([1, 2, 3, 4], onesided=1) == [[10, 0], [-2, 2], [-2, 0]]
    assert transform([[10, 0], [-2, 2], [-2, 0]], onesided=1, inverse=1) == [[1], [2], [3], [4]]
    assert transform([[4, 4], [0, 0]], inverse=1) == [[2, 2], [2, 2]]


@pytest.mark.parametrize(
    ("shape", "params", "problem"),
    [
        ((4,), {}, "must be"),
        ((1, 4, 3), {}, "must be"),
        ((1, 4, 4, 1), {}, "axis must be given"),
        ((1, 4, 1), {"axis": 2}, "but the last one, not 2"),
        ((1, 4, 1), {"axis": -4}, "but the last one, not -4"),
        ((1, 4, 1), {"inverse": 2}, "inverse must be 0 or 1, not 2"),
        ((1, 4, 1), {"onesided": -1}, "onesided must be 0 or 1, not -1"),
        ((1, 4, 2), {"onesided": 1}, "input must be real"),
        ((1, 4, 1), {"onesided": 1, "inverse": 1}, "input must be complex"),
        ((1, 1, 2), {"onesided": 1, "inverse": 1}, "dft_length must be above 0"),
        ((1, 4, 1), {"dft_length": -1}, "dft_length must be above 0"),
    ],
)
def test_invalid_calls_are_refused(shape, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"input": shape}, {**SETTINGS, **params})


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference({"input": np.ones((1, 2, 1), np.int32)}, SETTINGS)
