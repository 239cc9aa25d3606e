"""Test cases of CausalConvWithState, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with causalconvwithstate_reference.py.
"""

import numpy as np
import pytest
from causalconvwithstate_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform


def shapes_of(count, channels, length, taps):
    """Return the shapes of all inputs."""
    return {
        "input": (count, channels, length),
        "weight": (channels, 1, taps),
        "bias": (channels,),
        "past_state": (count, channels, taps - 1),
    }


SHAPES = [
    shapes_of(2, 3, 37, 4),
    shapes_of(2, 3, 1, 4),  # a step of a decoder
    shapes_of(1, 2, 3, 6),  # shorter than the state
    shapes_of(1, 5, 19, 11),  # two passes of 4, and 3 of 1
    shapes_of(2, 40, 1030, 2),  # more positions than a block, and work for threads
]
CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=SHAPES,
        values=[uniform(-1, 1)],
        params=[{"activation": activation} for activation in ("none", "silu")],
        dtype=dtype,
    )
]
SPECIAL = cases(
    shapes=SHAPES[:3],
    values=[{**dict.fromkeys(SHAPES[0], uniform(-1, 1)), "bias": special()}],
    params=[{"activation": activation} for activation in ("none", "swish")],
    dtype="float32",
)


# Sums of up to 11 products of numbers up to 1; the kernel rounds each sum to float32.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=2e-6)


# The bias alone is up to 3e38, or not finite.
@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_cpu_kernel_special(case):
    check_cpu_kernel(case, max_ulp=1, max_error=2e-6)


def convolved(x, weight, bias=0.0, past=(), activation="none"):
    """Return the reference's output and state of one channel."""
    tensors = {
        "input": np.array(x, np.float32).reshape(1, 1, -1),
        "weight": np.array(weight, np.float32).reshape(1, 1, -1),
        "bias": np.array([bias], np.float32),
        "past_state": np.array(past, np.float32).reshape(1, 1, -1),
    }
    found = reference(tensors, {"activation": activation})
    return found["output"].ravel().tolist(), found["present_state"].ravel().tolist()


def test_reference():
    assert convolved([1, 2, 3], [10, 1], past=[5]) == ([51, 12, 23], [3])
    assert convolved([1], [100, 10, 1], bias=0.5, past=[2, 3]) == ([231.5], [3, 1])
    assert convolved([1, 2], [3]) == ([3, 6], [])


def test_reference_activation():
    y, state = convolved([0, 2, -30], [1, 1], past=[0], activation="silu")
    np.testing.assert_allclose(y, [0, 2 / (1 + np.exp(-2)), -28 / (1 + np.exp(28))], 1e-6)
    assert (y, state) == convolved([0, 2, -30], [1, 1], past=[0], activation="swish")


def test_reference_in_parts():
    """The state carries a sequence over from call to call."""
    x, weight = [3, 1, 4, 1, 5, 9, 2], [2, 7, 1, 8]
    whole, end = convolved(x, weight, past=[0] * 3)
    state, parts = [0] * 3, []
    for part in (x[:2], x[2:3], x[3:]):
        found, state = convolved(part, weight, past=state)
        parts += found
    assert (parts, state) == (whole, end)


@pytest.mark.parametrize(
    ("shapes", "problem"),
    [
        ({"input": (2, 3)}, "input must be"),
        ({"weight": (3, 4)}, "weight must be"),
        ({"weight": (2, 1, 4)}, "weight must be"),
        ({"weight": (3, 2, 4)}, "weight must be"),
        ({"weight": (3, 1, 0)}, "weight must be"),
        ({"bias": (2,)}, "bias must be"),
        ({"past_state": (2, 3, 4)}, "past_state must be"),
        ({"past_state": (1, 3, 3)}, "past_state must be"),
    ],
)
def test_invalid_shapes_are_refused(shapes, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**shapes_of(2, 3, 5, 4), **shapes}, {"activation": "none"})


def test_integers_are_refused():
    tensors = {name: np.ones(shape, np.int32) for name, shape in SHAPES[0].items()}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, {"activation": "none"})
