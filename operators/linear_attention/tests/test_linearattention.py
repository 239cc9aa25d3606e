"""Test cases of LinearAttention, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with linearattention_reference.py.
"""

import numpy as np
import pytest
from linearattention_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform

RULES = ["linear", "gated", "delta", "gated_delta"]


def shapes_of(count=2, length=5, heads=2, states=2, size=5, values=6, decays=1, betas=2):
    """Return the shapes of all inputs."""
    return {
        "query": (count, length, heads * size),
        "key": (count, length, states * size),
        "value": (count, length, states * values),
        "past_state": (count, states, size, values),
        "decay": (count, length, states * decays),
        "beta": (count, length, betas),
    }


VALUES = {
    **dict.fromkeys(("query", "value", "past_state"), uniform(-1, 1)),
    "key": uniform(-0.4, 0.4),
    "decay": uniform(-2, 0.1),
    "beta": uniform(0, 1),
}
GEOMETRIES = [  # shapes, params
    (shapes_of(), {"q_num_heads": 2, "kv_num_heads": 2}),
    (
        shapes_of(heads=6, decays=5, betas=1, values=33),  # 33: a block, and a column
        {"q_num_heads": 6, "kv_num_heads": 2, "scale": -0.75},
    ),
    (
        shapes_of(count=1, length=9, heads=3, states=3, size=64, values=64, decays=64, betas=3),
        {"q_num_heads": 0, "kv_num_heads": 3, "chunk_size": 1},
    ),
    (
        shapes_of(count=1, length=1, heads=1, states=1, size=1, values=1, betas=1),
        {"q_num_heads": 1, "kv_num_heads": 1, "scale": 3.0},
    ),
]
CASES = [
    case
    for dtype in ("float32", "float16")
    for shapes, params in GEOMETRIES
    for case in cases(
        shapes=[shapes],
        values=[VALUES],
        params=[{**params, "update_rule": rule} for rule in RULES],
        dtype=dtype,
    )
]
SPECIAL = [
    case
    for name in ("query", "value", "past_state", "decay", "beta")
    for case in cases(
        shapes=[shapes_of(length=2)],
        values=[{**VALUES, name: special()}],
        params=[{"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "gated_delta"}],
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


def attended(queries, keys, values, rule, decay=(), beta=(), past=0.0, scale=1.0):
    """Return the reference's outputs and state of one head, with values of one element."""
    length, size = np.shape(keys)
    tensors = {
        "query": np.array(queries).reshape(1, length, size),
        "key": np.array(keys).reshape(1, length, size),
        "value": np.array(values).reshape(1, length, 1),
        "past_state": np.full((1, 1, size, 1), past),
        "decay": np.log(decay or [1] * length).reshape(1, length, 1),
        "beta": np.array(beta or [1] * length).reshape(1, length, 1),
    }
    settings = {"q_num_heads": 1, "kv_num_heads": 1, "chunk_size": 64, "scale": scale}
    floats = {name: array.astype(np.float32) for name, array in tensors.items()}
    found = reference(floats, {**settings, "update_rule": rule})
    return found["output"].ravel().tolist(), found["present_state"].ravel().tolist()


TWO = [[1, 0], [0, 1]], [[1, 0], [1, 2]], [3, 5]  # query, key, value


def test_reference_rules():
    assert attended(*TWO, "linear") == ([3, 10], [8, 10])
    assert attended(*TWO, "gated", decay=[1, 0.5]) == ([3, 10], [6.5, 10])
    assert attended(*TWO, "delta", beta=[1, 0.5]) == ([3, 2], [4, 2])
    assert attended(*TWO, "gated_delta", decay=[1, 0.5], beta=[1, 2]) == ([3, 14], [8.5, 14])


def test_reference_state_and_scale():
    assert attended(*TWO, "linear", past=1.0, scale=2.0) == ([8, 22], [9, 11])
    assert attended([[1] * 4], [[1] * 4], [8], "linear", scale=0.0)[0] == [16]


def test_reference_delta_replaces():
    """A state that is updated at a rate of 1 returns the value of the key, of length 1."""
    queries = [[0, 1], [1, 0], [0, 1]]
    assert attended(queries, queries, [3, 4, 7], "delta", past=9.0)[0] == [3, 4, 7]


def test_reference_parallel_form():
    """Without decay and correction: the sum of all values so far, by the scores of their keys."""
    random = np.random.default_rng(1)
    query, key = (random.uniform(-1, 1, (6, 4)).round(3) for _ in range(2))
    value = random.uniform(-1, 1, 6).round(3)
    expected = np.tril(query @ key.T) @ value
    np.testing.assert_allclose(attended(query, key, value, "linear")[0], expected, 1e-5, 1e-6)


VALID = {
    "q_num_heads": 2,
    "kv_num_heads": 2,
    "chunk_size": 64,
    "scale": 0.0,
    "update_rule": "delta",
}


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({}, {"q_num_heads": 3}, "q_num_heads must be a multiple"),
        ({"query": (10, 10)}, {}, "query must be"),
        ({"query": (2, 5, 11)}, {}, "query must be"),
        ({"query": (2, 5, 0)}, {}, "query must be"),
        ({"query": (2, 5, 1026)}, {}, "query must be"),
        ({"key": (2, 5, 12)}, {}, "key must be"),
        ({"key": (2, 4, 10)}, {}, "key must be"),
        ({"value": (2, 5, 13)}, {}, "value must be"),
        ({"value": (2, 4, 12)}, {}, "value must be"),
        ({"value": (2, 5)}, {}, "value must be"),
        ({"past_state": (2, 2, 6, 5)}, {}, "past_state must be"),
        ({"decay": (2, 5, 1)}, {}, "decay must be"),
        ({"beta": (2, 5, 3)}, {}, "beta must be"),
        ({"beta": (2, 1, 2)}, {}, "beta must be"),
    ],
)
def test_invalid_calls_are_refused(shapes, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**shapes_of(), **shapes}, {**VALID, **params})


def test_integers_are_refused():
    tensors = {name: np.ones(shape, np.int32) for name, shape in shapes_of().items()}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, VALID)
