"""Test cases of STFT, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with stft_reference.py.
"""

import numpy as np
import pytest
from stft_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, uniform

CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[{"signal": (2, 64, 1), "window": (length,)} for length in (9, 10, 16, 37)],
        values=[uniform(-1, 1)],
        params=[
            {"frame_step": step, "onesided": onesided} for onesided in (0, 1) for step in (1, 7)
        ],
        dtype=dtype,
    )
]
COMPLEX = cases(
    shapes=[{"signal": (1, 40, 2), "window": (length,)} for length in (10, 40)],
    values=[uniform(-1, 1)],
    params=[{"frame_step": 5, "onesided": 0}],
    dtype="float32",
)
# A single frame; frames of one element.
SINGLE = cases(
    shapes=[{"signal": (1, 6, 1), "window": (length,)} for length in (1, 6)],
    values=[uniform(-1, 1)],
    params=[{"frame_step": 2}],
    dtype="float32",
)
GIVEN = cases(
    shapes=[{"signal": (1, 20, 1), "window": (6,)}],
    values=[uniform(-1, 1)],
    params=[{"frame_step": 3, "frame_length": 6}],
    dtype="float32",
)


# Both compute in double, in another order: near 0, the errors are those of the terms.
@pytest.mark.parametrize("case", CASES + COMPLEX + SINGLE + GIVEN, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=1e-13)


SETTINGS = {"frame_step": 1, "frame_length": 0, "onesided": 1}


def test_reference():
    signal = np.array([[[1], [2], [3], [4]]], np.float32)
    inputs = {"signal": signal, "window": np.array([1, 0.5], np.float32)}
    found = reference(inputs, {**SETTINGS, "frame_step": 2})["output"]
    assert found.tolist() == [[[[2, 0], [0, 0]], [[5, 0], [1, 0]]]]


@pytest.mark.parametrize(
    ("shape", "window", "params", "problem"),
    [
        ((4, 1), (2,), {}, "signal must be"),
        ((1, 4, 3), (2,), {}, "signal must be"),
        ((1, 4, 1), (5,), {}, "must fit into signal"),
        ((1, 4, 1), (2, 2), {}, "window must be"),
        ((1, 4, 1), (2,), {"frame_length": 3}, "window must be"),
        ((1, 4, 1), (2,), {"frame_step": 0}, "frame_step must be above 0, not 0"),
        ((1, 4, 1), (2,), {"onesided": 2}, "onesided must be 0 or 1, not 2"),
        ((1, 4, 2), (2,), {}, "signal must be real"),
    ],
)
def test_invalid_calls_are_refused(shape, window, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"signal": shape, "window": window}, {**SETTINGS, **params})


def test_integers_are_refused():
    inputs = {"signal": np.ones((1, 2, 1), np.int32), "window": np.ones(2, np.float32)}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(inputs, SETTINGS)
