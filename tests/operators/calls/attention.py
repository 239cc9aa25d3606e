"""Operators of attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from opkit.check.cases import Case
from opkit.runtimes.invocation import Array
from tests.operators.calls.common import InvalidCall, NoTensors, Random, Table, floats, zeros
from tests.operators.oracle import Call


@st.composite
def attention_calls(draw: Any) -> Call:
    """Return heads in groups, masks of all ranks and types, limits of keys, and a past."""
    batches, kv_heads, group, queries, rows, size, value_size = (
        draw(st.integers(1, limit)) for limit in (3, 3, 3, 20, 110, 9, 9)
    )
    heads = kv_heads * group
    random = np.random.default_rng(draw(st.integers(0, 99)))
    cache = draw(st.sampled_from(["none", "past", "padded"]))
    past = draw(st.integers(1, 5)) if cache == "past" else 0
    inputs: dict[str, Array] = {
        "Q": random.uniform(-2, 2, (batches, heads, queries, size)),
        "K": random.uniform(-2, 2, (batches, kv_heads, rows, size)),
        "V": random.uniform(-2, 2, (batches, kv_heads, rows, value_size)),
    }
    attributes: dict[str, Any] = {"is_causal": draw(st.integers(0, 1))}
    if draw(st.booleans()):
        inputs = {
            name: each.swapaxes(1, 2).reshape(batches, each.shape[2], -1)
            for name, each in inputs.items()
        }
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
    if draw(st.booleans()):
        sides = (batches, heads, queries)[draw(st.integers(0, 2)) :]
        shape = (*(draw(st.sampled_from([1, each])) for each in sides[:-1]), queries, rows + past)
        mask = random.uniform(-2, 2, shape)
        inputs["attn_mask"] = mask > -1 if draw(st.booleans()) else mask
    if past:
        inputs["past_key"] = random.uniform(-2, 2, (batches, kv_heads, past, size))
        inputs["past_value"] = random.uniform(-2, 2, (batches, kv_heads, past, value_size))
    arrays = {
        name: each if each.dtype == bool else each.astype(np.float32)
        for name, each in inputs.items()
    }
    if cache == "padded":
        arrays["nonpad_kv_seqlen"] = random.integers(1, rows, batches, np.int64, endpoint=True)
    if draw(st.booleans()):
        attributes["scale"] = draw(floats(0.125, 1))
    if draw(st.booleans()):
        attributes["softcap"] = draw(floats(0.5, 4))
    return Call(arrays, attributes)


@st.composite
def deformable_attention_cases(draw: Any) -> Case:
    """Return samples between pixels, at their centers, at the edges and outside."""
    images, queries, heads, channels, points, levels = (
        draw(st.integers(1, limit)) for limit in (2, 4, 3, 40, 5, 8)
    )
    sizes = [[draw(st.integers(1, 6)), draw(st.integers(1, 6))] for _ in range(levels)]
    ends = np.cumsum([rows * columns for rows, columns in sizes])
    random = np.random.default_rng(draw(st.integers(0, 99)))
    shape = (images, queries, heads, levels, points)
    places = st.integers(-8, 24).map(lambda sixteenths: sixteenths / 16) | floats(-3, 3)
    inputs = {
        "value": random.uniform(-1, 1, (images, ends[-1], heads, channels)).astype(np.float32),
        "sampling_locations": draw(hnp.arrays(np.float32, (*shape, 2), elements=places)),
        "attention_weights": random.uniform(-1, 1, shape).astype(np.float32),
    }
    params = {
        "value_spatial_shapes": [side for size in sizes for side in size],
        "value_level_start_index": [0, *ends[:-1].tolist()],
    }
    return Case("random", inputs, params)


TENSORS = {
    "value": zeros(1, 10, 2, 4),
    "sampling_locations": zeros(1, 3, 2, 2, 5, 2),
    "attention_weights": zeros(1, 3, 2, 2, 5),
}
LEVELS: dict[str, Any] = {"value_spatial_shapes": [2, 3, 2, 2], "value_level_start_index": [0, 6]}

QUERIES, KEYS, PAST = zeros(2, 4, 3, 8), zeros(2, 2, 5, 8), zeros(2, 2, 6, 8)
ATTENTION = {
    "q": QUERIES,
    "k": KEYS,
    "v": KEYS,
    "attn_mask": zeros(1),
    "past_key": zeros(1),
    "past_value": zeros(1),
    "nonpad_kv_seqlen": np.array([-1]),
}
INVALID_ATTENTION: list[tuple[dict[str, Array], dict[str, Any], str]] = [
    ({"q": zeros(2, 3, 32)}, {}, "q, k and v must have 3 dimensions, or 4"),
    ({}, {"q_num_heads": 3}, "q_num_heads and kv_num_heads must divide"),
    ({"k": zeros(2, 3, 5, 8), "v": zeros(2, 3, 5, 8)}, {}, "must be a multiple of those of k"),
    ({"k": zeros(2, 2, 5, 7)}, {}, "k must have the batches and the head size of q"),
    ({"v": zeros(2, 2, 4, 8)}, {}, "v must have the batches, heads and rows of k"),
    ({"v": zeros(2, 2, 5, 769)}, {}, "heads must have 1 to 768 features"),
    ({"past_key": PAST}, {}, "past_key and past_value must be"),
    ({"past_key": PAST, "past_value": zeros(2, 2, 5, 8)}, {}, "past_key and past_value must be"),
    ({"attn_mask": zeros(1, 1, 1, 1, 5)}, {}, "attn_mask must have at most 4 dimensions"),
    ({"attn_mask": zeros(3, 6)}, {}, "attn_mask must broadcast"),
    ({"attn_mask": zeros(2, 5)}, {}, "attn_mask must broadcast"),
    ({"nonpad_kv_seqlen": np.array([1, 2, 3])}, {}, "nonpad_kv_seqlen must be"),
    ({"nonpad_kv_seqlen": np.array([1, 6])}, {}, "from 0 to the count of keys"),
    ({"nonpad_kv_seqlen": np.array([-1, 2])}, {}, "from 0 to the count of keys"),
    (
        {"past_key": PAST, "past_value": PAST, "nonpad_kv_seqlen": np.array([1, 2])},
        {},
        "nonpad_kv_seqlen must be left out",
    ),
    ({}, {"has_present": 2}, "has_present must be 0 or 1"),
    (
        {"past_key": PAST, "past_value": PAST},
        {"has_present": 0},
        "has_present must be 1 with past_key",
    ),
    ({}, {"is_causal": 2}, "is_causal must be 0 or 1"),
    ({}, {"left_window_size": -2}, "must be -1 or above"),
    ({}, {"right_window_size": -2}, "must be -1 or above"),
    ({}, {"qk_matmul_output_mode": 4}, "qk_matmul_output_mode must be from 0 to 3"),
    ({}, {"softcap": -1.0}, "softcap must be 0 or above"),
    ({}, {"softmax_precision": 2}, "softmax_precision must be 0, 1, 10, 11 or 16"),
]


GROUP_PAST, ROTARY = zeros(2, 2, 5, 8), zeros(8, 4)
GROUPS = {
    "query": zeros(2, 3, 32),
    **dict.fromkeys(("key", "value"), zeros(2, 3, 16)),
    **dict.fromkeys(("past_key", "past_value"), GROUP_PAST),
    "seqlens_k": np.array([7, 7], np.int32),
    **dict.fromkeys(("cos_cache", "sin_cache"), ROTARY),
    "position_ids": np.zeros((2, 3), np.int64),
    "attention_bias": zeros(1),
    "head_sink": zeros(1),
}
GROUP_SIZES: dict[str, Any] = {
    "num_heads": 4,
    "kv_num_heads": 2,
    "total_sequence_length": 8,
    "do_rotary": 1,
}
INVALID_GROUPS: list[tuple[dict[str, Array], dict[str, Any], str]] = [
    ({}, {"num_heads": 3}, "num_heads must be a multiple of kv_num_heads"),
    ({"query": zeros(6, 32)}, {}, "query must be"),
    ({"query": zeros(2, 3, 33)}, {}, "query must be"),
    ({"query": zeros(2, 3, 4 * 769)}, {}, "heads must have 1 to 768 features"),
    ({"key": zeros(2, 4, 16)}, {}, "key and value must be"),
    ({"query": zeros(2, 3, 64), "key": zeros(1)}, {}, "key and value must be"),
    ({"value": zeros(1)}, {}, "key and value must be"),
    ({"past_key": zeros(2, 2, 6, 8)}, {}, "past_key and past_value must be"),
    ({"past_key": zeros(2, 2, 5, 7)}, {}, "past_key and past_value must be"),
    ({"past_value": zeros(1)}, {}, "past_key and past_value must be"),
    ({}, {"total_sequence_length": 7}, "total_sequence_length must be"),
    ({}, {"total_sequence_length": 2}, "total_sequence_length must be"),
    ({"seqlens_k": zeros(3, dtype=np.int32)}, {}, "seqlens_k must be"),
    ({"seqlens_k": np.array([7, 8], np.int32)}, {}, "seqlens_k must be from 0"),
    ({"seqlens_k": np.array([-1, 0], np.int32)}, {}, "seqlens_k must be from 0"),
    (dict.fromkeys(("cos_cache", "sin_cache"), zeros(8, 5)), {}, "cos_cache and sin_cache must"),
    ({"cos_cache": zeros(1)}, {}, "cos_cache and sin_cache must"),
    ({"sin_cache": zeros(7, 4)}, {}, "cos_cache and sin_cache must"),
    ({"position_ids": zeros(2, 1, dtype=np.int64)}, {}, "position_ids must be"),
    ({"position_ids": np.full((2, 3), 8)}, {}, "positions must be rows of cos_cache"),
    ({"position_ids": np.full((2, 3), -1)}, {}, "positions must be rows of cos_cache"),
    ({}, {"local_window_size": 0}, "local_window_size must be -1 or above 0"),
    ({"attention_bias": zeros(2, 2, 3, 8)}, {}, "attention_bias must be"),
    ({"attention_bias": zeros(2, 4, 3, 7)}, {}, "attention_bias must be"),
    ({"attention_bias": zeros(4, 3, 8)}, {}, "attention_bias must be"),
    ({"head_sink": zeros(2)}, {}, "head_sink must be"),
]


def group_outputs(call: Mapping[str, Array], params: Any) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the outputs by the shape rule, also of an invalid call."""
    heads, kv_heads = params["num_heads"], params["kv_num_heads"]
    size = call["query"].shape[-1] // (heads + (2 * kv_heads if call["key"].ndim == 1 else 0))
    present = (2, kv_heads, max(call["past_key"].shape[2], params["total_sequence_length"]), size)
    return {"output": (2, 3, heads * size), "present_key": present, "present_value": present}


def attention_outputs(inputs: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the outputs by the shape rule, also of an invalid call."""
    heads, rows, size = inputs["k"].shape[1:]
    value_size = inputs["v"].shape[-1]
    past = inputs["past_key"]
    keys = rows + (past.shape[2] if past.ndim == 4 else 0)
    return {
        "y": (*QUERIES.shape[:3], value_size),
        "present_key": (2, heads, keys, size),
        "present_value": (2, heads, keys, value_size),
    }


INVALID_CHANGES: list[tuple[dict[str, Array], dict[str, Any], str]] = [
    ({"value": zeros(1, 9, 2, 4)}, {}, "value must have the pixels of all levels"),
    ({"value": zeros(1, 10, 8)}, {}, "value must be"),
    ({"attention_weights": zeros(1, 3, 2, 1, 5)}, {}, "attention_weights must be"),
    ({"sampling_locations": zeros(1, 3, 2, 2, 5, 3)}, {}, "sampling_locations must be"),
    ({}, {"value_level_start_index": [0, 6, 6]}, "must have 2 items for each item"),
    ({}, {"value_level_start_index": [-1, 6]}, "not negative"),
    ({}, {"value_spatial_shapes": [2, 3, 0, 2]}, "value_spatial_shapes must be above 0"),
    ({}, {"im2col_step": 0}, "im2col_step must be above 0"),
]
INVALID = [
    InvalidCall(
        "MultiscaleDeformableAttention",
        {**TENSORS, **inputs},
        {**LEVELS, **params},
        {"output": (1, 3, 8)},
        problem,
    )
    for inputs, params, problem in INVALID_CHANGES
] + [
    InvalidCall("Attention", call, params, attention_outputs(call), problem)
    for inputs, params, problem in INVALID_ATTENTION
    for call in [{**ATTENTION, **inputs}]
]
INVALID += [
    InvalidCall("GroupQueryAttention", call, params, group_outputs(call, params), problem)
    for inputs, changes, problem in INVALID_GROUPS
    for call, params in [(GROUPS | inputs, GROUP_SIZES | changes)]
]

TABLE = Table(
    {"Attention": Random(attention_calls(), [24], rtol=1e-5, atol=1e-5)},
    {"Attention": 93},
    {r"test_attention_.*bf16": NoTensors("is bfloat16")},
    invalid=INVALID,
)
