"""Test cases of WKV7, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with wkv7_reference.py.
"""

import numpy as np
import pytest
from wkv7_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform


def shapes_of(count, length, heads, keys, values):
    """Return the shapes of all inputs."""
    return {
        **dict.fromkeys("rwkab", (count, length, heads * keys)),
        "v": (count, length, heads * values),
        "past_state": (count, heads, keys, values),
    }


VALUES = {
    **dict.fromkeys(("r", "k", "v", "past_state"), uniform(-1, 1)),
    **dict.fromkeys(("a", "b"), uniform(-0.3, 0.3)),
    "w": uniform(-2, 0),
}
SHAPES = [
    shapes_of(2, 5, 3, 5, 6),
    shapes_of(1, 4, 2, 7, 33),  # a block of columns, and one of its own
    shapes_of(1, 9, 3, 64, 64),
    shapes_of(1, 1, 1, 1, 1),
]
CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(shapes=SHAPES, values=[VALUES], dtype=dtype)
]
SPECIAL = cases(
    shapes=[shapes_of(2, 2, 2, 3, 5)],
    values=[{**VALUES, "v": special()}],
    dtype="float32",
)


# The kernel adds up to 64 products to a sum, and up to 9 positions to a state, in float32.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=4e-6)


# The same, with numbers up to 1e38: the largest one of each sum counts.
@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_cpu_kernel_special(case):
    check_cpu_kernel(case, max_ulp=8, max_error=4e-6)


def test_reference_is_that_of_the_paper():
    """The state of values x keys, times a matrix at each position."""
    random = np.random.default_rng(2)
    r, k, v, key = (random.uniform(-1, 1, (6, 4)) for _ in range(4))
    w, rate = random.uniform(0.2, 1, (6, 4)), random.uniform(0, 1, (6, 4))
    key /= np.linalg.norm(key, axis=1, keepdims=True)
    state = random.uniform(-1, 1, (4, 4))
    tensors = {"r": r, "w": np.log(w), "k": k, "v": v, "a": -key, "b": rate * key}
    inputs = {name: each[np.newaxis].astype(np.float32) for name, each in tensors.items()}
    inputs["past_state"] = state.T[np.newaxis, np.newaxis].astype(np.float32)
    found = reference(inputs, {})
    for t in range(6):
        state = state @ (np.diag(w[t]) - np.outer(key[t], rate[t] * key[t])) + np.outer(v[t], k[t])
        np.testing.assert_allclose(found["y"][0, t], state @ r[t], 1e-4, 1e-5)
    np.testing.assert_allclose(found["present_state"][0, 0], state.T, 1e-4, 1e-5)


def test_reference_state():
    ones = np.ones((1, 2, 1), np.float32)
    scales = {"r": 1, "k": 2, "v": 3, "a": -1, "b": 0.25}
    inputs = {
        **{name: np.float32(scale) * ones for name, scale in scales.items()},
        "w": np.log(0.5 * ones),
        "past_state": np.array([[[[8]]]], np.float32),
    }
    found = reference(inputs, {})
    assert found["y"].ravel().tolist() == [4 - 2 + 6, 4 - 2 + 6]
    assert found["present_state"].ravel().tolist() == [8]


VALID = shapes_of(2, 5, 3, 4, 6)


@pytest.mark.parametrize(
    ("shapes", "problem"),
    [
        ({"past_state": (2, 3, 4)}, "past_state must be"),
        ({"past_state": (2, 3, 0, 6)}, "past_state must be"),
        ({"past_state": (2, 3, 513, 6)}, "keys of 1 to 512 elements"),
        ({"past_state": (1, 3, 4, 6)}, "r must be"),
        ({"r": (2, 5, 13)}, "r must be"),
        ({"r": (10, 12)}, "r must be"),
        ({"w": (2, 5, 3)}, "w must be"),
        ({"k": (2, 4, 12)}, "k must be"),
        ({"a": (2, 5, 4)}, "a must be"),
        ({"b": (2, 1, 12)}, "b must be"),
        ({"v": (2, 5, 12)}, "v must be"),
        ({"v": (2, 4, 18)}, "v must be"),
    ],
)
def test_invalid_shapes_are_refused(shapes, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**VALID, **shapes}, {})


def test_integers_are_refused():
    tensors = {name: np.ones(shape, np.int32) for name, shape in VALID.items()}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, {})
