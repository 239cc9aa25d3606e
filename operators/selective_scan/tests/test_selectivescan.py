"""Test cases of SelectiveScan, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with selectivescan_reference.py.
"""

import numpy as np
import pytest
from selectivescan_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform


def shapes_of(count, length, channels, states):
    """Return the shapes of all inputs."""
    return {
        **dict.fromkeys(("u", "delta"), (count, length, channels)),
        "a": (channels, states),
        **dict.fromkeys(("b", "c"), (count, length, states)),
        **dict.fromkeys(("d", "delta_bias"), (channels,)),
        "past_state": (count, channels, states),
    }


VALUES = {
    **dict.fromkeys(("u", "b", "c", "d", "past_state"), uniform(-1, 1)),
    "delta": uniform(0.3, 2),
    "delta_bias": uniform(-0.3, 0.5),
    "a": uniform(-1.5, 0),
}
SHAPES = [
    shapes_of(2, 5, 3, 4),
    shapes_of(1, 7, 37, 16),  # two parts of 16 channels, and 5
    shapes_of(3, 1, 16, 5),
    shapes_of(1, 40, 64, 16),  # work for threads
]
SETTINGS = [  # values, params
    (VALUES, {"delta_softplus": 0}),
    ({**VALUES, "delta": uniform(-4, 2)}, {"delta_softplus": 1}),
]
CASES = [
    case
    for dtype in ("float32", "float16")
    for values, params in SETTINGS
    for case in cases(shapes=SHAPES, values=[values], params=[params], dtype=dtype)
]
SPECIAL = cases(
    shapes=[SHAPES[0]],
    values=[{**VALUES, "d": special()}],
    params=[{"delta_softplus": 0}],
    dtype="float32",
)


# The kernel adds up to 40 positions to a state, and up to 17 products to a sum, in float32.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=4e-6)


# The products with d alone are up to 3e38, or not finite.
@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_cpu_kernel_special(case):
    check_cpu_kernel(case, max_ulp=1, max_error=4e-6)


def scanned(u, delta, a, b, c, **more):
    """Return the reference's output and state of one channel."""
    given = {"d": 0, "delta_bias": 0, "past_state": np.zeros(np.shape(a)), "delta_softplus": 0}
    given |= more
    softplus = given.pop("delta_softplus")
    tensors = {"u": u, "delta": delta, "a": a, "b": b, "c": c, **given}
    shapes = shapes_of(1, len(u), 1, len(a))
    inputs = {
        name: np.array(each, np.float32).reshape(shapes[name]) for name, each in tensors.items()
    }
    found = reference(inputs, {"delta_softplus": softplus})
    return found["y"].ravel().tolist(), found["present_state"].ravel().tolist()


def test_reference():
    half = [np.log(0.5), 0]  # the first state halves in a step, the second one stays
    b, c = [[1, 2], [3, 4]], [[10, 1], [1, 10]]
    assert scanned([1, 2], [1, 1], half, b, c) == ([12, 6.5 + 100], [6.5, 10])
    assert scanned([1], [2], half, b[:1], c[:1], past_state=[8, 1]) == ([40 + 5], [4, 5])
    assert scanned([1], [1], half, b[:1], c[:1], d=100, delta_bias=1) == ([100 + 24], [2, 4])


def test_reference_softplus():
    y, _ = scanned([1], [0.5], [0], [[1]], [[1]], delta_bias=1, delta_softplus=1)
    np.testing.assert_allclose(y, [np.log(1 + np.exp(1.5))], 1e-6)
    assert scanned([1], [-200], [0], [[1]], [[1]], delta_softplus=1)[0] == [0]
    assert scanned([1], [200], [0], [[1]], [[1]], delta_softplus=1)[0] == [200]


def test_reference_is_a_convolution():
    """With constant steps, the output is the sequence convolved with a kernel of powers."""
    random = np.random.default_rng(3)
    u, a, b, c = random.uniform(-1, 1, 6), *(random.uniform(-1, 0, 3) for _ in range(3))
    kernel = [np.sum(c * np.exp(0.5 * a * i) * 0.5 * b) for i in range(6)]
    found, _ = scanned(u, [0.5] * 6, a, [b] * 6, [c] * 6)
    np.testing.assert_allclose(found, np.convolve(u, kernel)[:6], 1e-4, 1e-6)


VALID = shapes_of(2, 5, 3, 4)


@pytest.mark.parametrize(
    ("shapes", "problem"),
    [
        ({"u": (10, 3)}, "u must be"),
        ({"a": (4, 3)}, "a must be"),
        ({"a": (3, 0)}, "a must be"),
        ({"a": (3, 257)}, "with 1 to 256 states"),
        ({"delta": (2, 5, 1)}, "delta must be"),
        ({"b": (2, 4)}, "b must be"),
        ({"b": (2, 5, 3)}, "b must be"),
        ({"c": (1, 5, 4)}, "c must be"),
        ({"d": (1,)}, "d must be"),
        ({"delta_bias": (4,)}, "delta_bias must be"),
        ({"past_state": (2, 4, 3)}, "past_state must be"),
    ],
)
def test_invalid_shapes_are_refused(shapes, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**VALID, **shapes}, {"delta_softplus": 0})


def test_integers_are_refused():
    tensors = {name: np.ones(shape, np.int32) for name, shape in VALID.items()}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, {"delta_softplus": 0})
