"""Test cases of WKV6, for every kernel: shapes x values.

`scons check` runs each case on the CPU kernel and compares with wkv6_reference.py.
"""

import numpy as np
import pytest
from wkv6_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform


def shapes_of(count, length, heads, keys, values):
    """Return the shapes of all inputs."""
    return {
        **dict.fromkeys("rwk", (count, length, heads * keys)),
        "v": (count, length, heads * values),
        "u": (heads, keys),
        "past_state": (count, heads, keys, values),
    }


VALUES = {
    **dict.fromkeys(("r", "k", "v", "u", "past_state"), uniform(-1, 1)),
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
SPECIAL = [
    case
    for name in ("r", "w", "v", "u", "past_state")
    for case in cases(
        shapes=[shapes_of(2, 2, 2, 3, 5)],
        values=[{**VALUES, name: special()}],
        dtype="float32",
    )
]


# The kernel adds up to 64 products to a sum, and up to 9 positions to a state, in float32.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=4e-6)


# The same, with numbers up to 1e38: the largest one of each sum counts.
@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_cpu_kernel_special(case):
    check_cpu_kernel(case, max_ulp=8, max_error=4e-6)


def test_reference_is_that_of_the_paper():
    """The sum over all earlier positions, of one head, without a recurrence."""
    random = np.random.default_rng(2)
    r, k, v = (random.uniform(-1, 1, (6, 4)) for _ in range(3))
    w, u = random.uniform(0.2, 1, (6, 4)), random.uniform(-1, 1, 4)
    past = random.uniform(-1, 1, (4, 4))
    for t in range(6):
        wkv = np.diag(w[:t].prod(axis=0)) @ past + np.outer(u * k[t], v[t])
        for i in range(t):
            wkv += np.outer(w[i + 1 : t].prod(axis=0) * k[i], v[i])
        tensors = {"r": r, "w": np.log(w), "k": k, "v": v}
        inputs = {name: each[np.newaxis].astype(np.float32) for name, each in tensors.items()}
        inputs |= {"u": u[np.newaxis].astype(np.float32)}
        inputs |= {"past_state": past[np.newaxis, np.newaxis].astype(np.float32)}
        np.testing.assert_allclose(reference(inputs, {})["y"][0, t], r[t] @ wkv, 1e-4, 1e-5)


def test_reference_state():
    ones = np.ones((1, 2, 1), np.float32)
    inputs = {
        **{name: scale * ones for name, scale in zip("rkv", (1, 2, 3), strict=True)},
        "w": np.log(0.5 * ones),
        "u": np.array([[10]], np.float32),
        "past_state": np.array([[[[8]]]], np.float32),
    }
    found = reference(inputs, {})
    assert found["y"].ravel().tolist() == [8 + 60, 4 + 6 + 60]
    assert found["present_state"].ravel().tolist() == [5 + 6]


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
        ({"u": (4, 3)}, "u must be"),
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
