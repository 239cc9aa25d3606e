"""Test cases of Attention, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with attention_reference.py.
"""

from pathlib import Path

import numpy as np
import pytest
from attention_reference import output_shapes, reference

from opkit.testing import Case, Operator, cases, check_cpu_kernel, integers, uniform

NONE = {"attn_mask": (1,), "past_key": (1,), "past_value": (1,), "nonpad_kv_seqlen": (1,)}
PARAMS = {
    "has_present": 1,
    "is_causal": 0,
    "kv_num_heads": 0,
    "left_window_size": -1,
    "q_num_heads": 0,
    "qk_matmul_output_mode": 0,
    "right_window_size": -1,
    "scale": -1.0,
    "softcap": 0.0,
    "softmax_precision": 0,
}
LAYOUTS = [  # q, k, v, optional inputs, params
    ((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 10), {}, {}),
    ((1, 2, 37, 20), (1, 2, 197, 20), (1, 2, 197, 13), {}, {"scale": 0.5}),
    ((2, 5, 24), (2, 9, 12), (2, 9, 6), {}, {"q_num_heads": 6, "kv_num_heads": 3}),
    ((2, 3, 24), (2, 7, 12), (2, 7, 9), {}, {"kv_num_heads": 3}),
    ((1, 3, 40), (1, 100, 10), (1, 100, 9), {}, {"q_num_heads": 4, "kv_num_heads": 1}),
    ((1, 4, 6, 3), (1, 2, 6, 3), (1, 2, 6, 3), {}, {"is_causal": 1, "q_num_heads": 4}),
    ((1, 1, 150, 5), (1, 1, 150, 5), (1, 1, 150, 5), {}, {"is_causal": 1, "softcap": 1.5}),
    (
        (2, 4, 3, 8),
        (2, 2, 4, 8),
        (2, 2, 4, 5),
        {"past_key": (2, 2, 6, 8), "past_value": (2, 2, 6, 5), "attn_mask": (3, 10)},
        {"is_causal": 1, "softmax_precision": 1},
    ),
    (
        (1, 3, 8),
        (1, 3, 4),
        (1, 3, 6),
        {"past_key": (1, 1, 2, 4), "past_value": (1, 1, 2, 6)},
        {"left_window_size": 2, "q_num_heads": 2, "kv_num_heads": 1},
    ),
    ((1, 1, 99, 4), (1, 1, 130, 4), (1, 1, 130, 4), {}, {"left_window_size": 9, "scale": 0.0}),
    ((1, 2, 6, 4), (1, 2, 9, 4), (1, 2, 9, 4), {}, {"right_window_size": 1, "scale": 2.0}),
    (
        (1, 2, 20, 4),
        (1, 2, 20, 4),
        (1, 2, 20, 4),
        {},
        {"left_window_size": 3, "right_window_size": 0},
    ),
    ((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8), {"attn_mask": (2, 1, 5, 7)}, {"softcap": 3.0}),
    ((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8), {"attn_mask": (3, 1, 4)}, {}),
    ((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8), {"attn_mask": (3, 5, 1)}, {}),
    ((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8), {"attn_mask": (7,)}, {"is_causal": 1}),
    (
        (3, 2, 4, 4),
        (3, 2, 8, 4),
        (3, 2, 8, 4),
        {"nonpad_kv_seqlen": (3,)},
        {"is_causal": 1, "qk_matmul_output_mode": 3},
    ),
    ((3, 2, 2, 4), (3, 2, 8, 4), (3, 2, 8, 4), {"nonpad_kv_seqlen": (3,)}, {}),
    (
        (3, 2, 4, 4),
        (3, 2, 8, 4),
        (3, 2, 8, 4),
        {"nonpad_kv_seqlen": (3,), "attn_mask": (3, 2, 4, 8)},
        {"left_window_size": 3, "right_window_size": 1},
    ),
    ((2, 4, 9, 8), (2, 2, 21, 8), (2, 2, 21, 6), {}, {"has_present": 0}),
    ((1, 1, 17, 768), (1, 1, 3, 768), (1, 1, 3, 768), {}, {}),  # too many for wide groups
]


# `dtype: bool` in op.yml is for models with masks of bool.
MASKS = next(
    each.dtype
    for each in Operator(Path(__file__).parents[1]).spec.inputs
    if each.name == "attn_mask"
)


def layouts(dtype):
    """Return a case for each layout."""
    return [
        case
        for q, k, v, optional, params in LAYOUTS
        for case in cases(
            shapes=[{"q": q, "k": k, "v": v, **NONE, **optional}],
            values=[
                {
                    **dict.fromkeys(("q", "k", "v", "past_key", "past_value"), uniform(-3, 3)),
                    "attn_mask": uniform(-2, 2),
                    "nonpad_kv_seqlen": integers(0, 8)
                    if "nonpad_kv_seqlen" in optional
                    else integers(-1, -1),
                }
            ],
            params=[params],
            dtype={
                **dict.fromkeys(("q", "k", "v", "past_key", "past_value"), dtype),
                "attn_mask": MASKS or dtype,
                "nonpad_kv_seqlen": "int64",
            },
        )
    ]


def call(q, k, v, mask=0.0, used=-1):
    """Return the inputs of one head, without a past; the last dimension of q and k may be left out.

    The numbers of a row are a feature each: q [Q, ...], k [K, ...], v [K, ...].
    """
    tensors = {
        name: np.array(rows, np.float32).reshape(1, 1, len(rows), -1)
        for name, rows in (("q", q), ("k", k), ("v", v))
    }
    mask = np.array([mask] if np.ndim(mask) == 0 else mask, np.float32)
    if MASKS == "bool":
        mask = mask > -1
    past = np.zeros(1, np.float32)
    return {
        **tensors,
        "attn_mask": mask,
        "past_key": past,
        "past_value": past,
        "nonpad_kv_seqlen": np.array([used]),
    }


INF, NAN = np.inf, np.nan
RANDOM = np.random.default_rng(0).uniform(-1, 1, (3, 230, 3))
RISING = RANDOM * np.linspace(1, 60, 230)[:, np.newaxis]  # the maximum changes in each block
REMOVED = np.where(RANDOM[0, :10, 0, np.newaxis] > RANDOM[1, :230, 1], -INF, 0)
REMOVED[3] = -INF  # all keys of a query
PLACES = np.arange(230)[:, np.newaxis]
WIDE = [[2, 5, 1, 3], [INF, NAN, 4, -INF]]
CASES = [
    *layouts("float32"),
    *layouts("float16"),
    Case("rising", call(RANDOM[0, :9] + 2, RISING[1], RANDOM[2])),
    Case("removed", call(RANDOM[0, :10], RANDOM[1], RANDOM[2], REMOVED)),
    Case("no keys", call([[1, 2], [3, 4]], [[5, 6]], [[7]], used=0)),
    Case("removed infinity", call([[1], [2]], [[1], [2]], [[INF], [3]], [[0, 0], [-INF, 0]])),
    Case("removed NaN", call([[1], [2]], [[NAN], [2]], [[1, 2], [3, 4]], [[-INF, 0], [-INF, 0]])),
    Case("NaN in q", call([[NAN], [2]], [[1], [2]], [[1, 2], [3, 5]])),
    Case("NaN in k", call([[1], [2]], [[1], [NAN]], [[1], [3]])),
    Case("infinite score", call([[1], [0.5]], [[1], [INF]], [[1], [3]])),
    Case("infinite values", call([[1], [2]], [[1], [2]], [[INF, 2, INF], [3, -INF, -INF]])),
    Case("values NaN", call([[1], [2]], [[1], [2]], [[NAN, 2], [3, 4]])),
    Case("weight 0", call([[-200], [200]], [[1], [2]], [[2, 5], [INF, NAN]])),
    Case("weight 0 of many", call([[-200], [200]] * 5, [[1], [2]], [[2, 5], [INF, NAN]])),
    Case("weight 0 of wide values", call([[-200], [200]] * 5, [[1], [2]], WIDE)),
    Case("NaN of many", call([[1], [2]] * 5, [[1], [NAN]], [[1], [3]])),
    Case("few, rising", call(RANDOM[0, :3] + 2, RISING[1], RANDOM[2])),
    Case("few, removed", call(RANDOM[0, 2:5], RANDOM[1], RANDOM[2], REMOVED[2:5])),
    Case("few, one large", call([[1]], np.where(PLACES == 21, 300, RANDOM[1, :, :1]), RANDOM[2])),
]


# The weights are rounded to float32, and so is each sum of products of values up to 3.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=3e-5)


def attended(q, k, v, mask=0.0, used=-1, **params):
    """Return the reference's y, rounded."""
    inputs = call(q, k, v, used=used)
    inputs["attn_mask"] = np.atleast_1d(np.array(mask))
    y = reference(inputs, {**PARAMS, **params})["y"][0, 0]
    return np.round(y.astype(np.float64), 5).tolist()


HALVES = np.log([[1], [3], [4]])  # with q = 1, the weights are in proportion to 1, 3 and 4
ROWS = [[8, 0], [0, 8], [16, 4]]


def test_reference():
    assert attended([[1]], HALVES, ROWS, scale=1.0) == [[9, 5]]
    assert attended([[0]], HALVES, ROWS) == [[8, 4]]
    assert attended([[2]], HALVES, ROWS, scale=0.5) == [[9, 5]]
    assert attended([[1, 1]], HALVES.repeat(2, 1) * np.sqrt(0.5), ROWS) == [[9, 5]]
    assert attended([[1]], HALVES, ROWS, np.log([4, 1, 1])) == [[8.72727, 3.63636]]
    assert attended([[1]], HALVES, ROWS, [True, True, False]) == [[2, 6]]
    assert attended([[1]], HALVES, ROWS, [[0.0, 0.0]]) == [[2, 6]]  # no third key
    assert attended([[1]], HALVES, ROWS, used=2) == [[2, 6]]
    assert attended([[1]], HALVES, ROWS, [-INF] * 3) == [[0, 0]]
    assert attended([[1]], HALVES * 1e3, ROWS, softcap=1e-9) == [[8, 4]]


def test_reference_limits_keys():
    assert attended([[0]] * 3, HALVES, ROWS, is_causal=1) == [[8, 0], [4, 4], [8, 4]]
    assert attended([[0]] * 3, HALVES, ROWS, right_window_size=0) == [[8, 0], [4, 4], [8, 4]]
    assert attended([[0]] * 3, HALVES, ROWS, left_window_size=0) == [[8, 4], [8, 6], [16, 4]]
    assert attended([[0]] * 2, HALVES, ROWS, used=3, is_causal=1) == [[4, 4], [8, 4]]


def test_reference_joins_the_past():
    inputs = call([[0]], [[1]], [[8]])
    inputs["past_key"] = np.full((1, 1, 1, 1), 5, np.float32)
    inputs["past_value"] = np.full((1, 1, 1, 1), 4, np.float32)
    outputs = reference(inputs, {**PARAMS, "is_causal": 1})
    assert {name: array.ravel().tolist() for name, array in outputs.items()} == {
        "y": [6],
        "present_key": [5, 1],
        "present_value": [4, 8],
    }


def test_reference_without_present():
    outputs = reference(call([[0]], [[1]], [[8]]), {**PARAMS, "has_present": 0})
    assert {name: array.tolist() for name, array in outputs.items()} == {
        "y": [[[[8]]]],
        "present_key": [0],
        "present_value": [0],
    }


VALID = {"q": (2, 4, 3, 8), "k": (2, 2, 5, 8), "v": (2, 2, 5, 6), **NONE}


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({"q": (2, 3, 32)}, {}, "q, k and v must have 3 dimensions, or 4"),
        ({}, {"q_num_heads": 3}, "q_num_heads and kv_num_heads must divide"),
        ({"q": (2, 3, 8), "k": (2, 5, 8), "v": (2, 5, 8)}, {}, "must divide"),
        ({"k": (2, 3, 5, 8), "v": (2, 3, 5, 6)}, {}, "must be a multiple of those of k"),
        ({"k": (2, 2, 5, 7)}, {}, "k must have the batches and the head size of q"),
        ({"v": (2, 2, 4, 6)}, {}, "v must have the batches, heads and rows of k"),
        ({"v": (2, 2, 5, 769)}, {}, "heads must have 1 to 768 features"),
        ({"q": (2, 4, 3, 0), "k": (2, 2, 5, 0)}, {}, "heads must have 1 to 768 features"),
        ({"past_key": (2, 2, 3, 8)}, {}, "past_key and past_value must be"),
        ({"attn_mask": (1, 1, 1, 1, 5)}, {}, "attn_mask must have at most 4 dimensions"),
        ({"attn_mask": (3, 6)}, {}, "attn_mask must broadcast"),
        ({"attn_mask": (2, 5)}, {}, "attn_mask must broadcast"),
        ({"nonpad_kv_seqlen": (3,)}, {}, "nonpad_kv_seqlen must be"),
        ({}, {"has_present": 2}, "has_present must be 0 or 1"),
        (
            {"past_key": (2, 2, 1, 8), "past_value": (2, 2, 1, 6)},
            {"has_present": 0},
            "has_present must be 1 with past_key",
        ),
        (
            {"q": (2, 3, 32), "k": (2, 5, 16), "v": (2, 5, 12)},
            {"has_present": 0, "q_num_heads": 4, "kv_num_heads": 2},
            "has_present must be 1 with past_key, and for q of 3 dimensions",
        ),
        ({}, {"is_causal": 2}, "is_causal must be 0 or 1"),
        ({}, {"left_window_size": -2}, "must be -1 or above"),
        ({}, {"right_window_size": -2}, "must be -1 or above"),
        ({}, {"qk_matmul_output_mode": 4}, "must be from 0 to 3"),
        ({}, {"softcap": -1.0}, "softcap must be 0 or above"),
        ({}, {"softmax_precision": 2}, "softmax_precision must be 0, 1, 10, 11 or 16"),
    ],
)
def test_invalid_calls_are_refused(shapes, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**VALID, **shapes}, {**PARAMS, **params})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"nonpad_kv_seqlen": np.array([3])}, "must be from 0 to the count of keys"),
        ({"nonpad_kv_seqlen": np.array([-2])}, "must be from 0 to the count of keys"),
        ({"nonpad_kv_seqlen": np.array([1], np.int32)}, "nonpad_kv_seqlen must be int64"),
        ({"attn_mask": np.array([1])}, "attn_mask must be float16, float32 or bool"),
        ({"q": np.ones((1, 1, 1, 1), int)}, "must be float16 or float32"),
        (
            {
                "nonpad_kv_seqlen": np.array([1]),
                "past_key": np.ones((1, 1, 1, 1), np.float32),
                "past_value": np.ones((1, 1, 1, 1), np.float32),
            },
            "must be left out",
        ),
    ],
)
def test_invalid_values_are_refused(changes, problem):
    with pytest.raises(ValueError, match=problem):
        reference({**call([[1]], [[1], [2]], [[1], [2]]), **changes}, PARAMS)
