"""Recurrences along time: linear attention, causal convolutions, running products."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from opkit.runtimes.invocation import Array
from tests.operators.calls.common import (
    InvalidCall,
    Random,
    Table,
    axes,
    integers_as,
    shapes,
    zeros,
)
from tests.operators.oracle import Call


def uniform(random: np.random.Generator, *shape: int, low: float = -1, high: float = 1) -> Array:
    return random.uniform(low, high, shape).astype(np.float32)


@st.composite
def linear_attention_calls(draw: Any) -> Call:
    """Return all rules, with heads that share states, and with and without a past."""
    count, length, states, queries, size, values = (
        draw(st.integers(1, limit)) for limit in (2, 5, 3, 3, 9, 40)
    )
    rule = draw(st.sampled_from(["linear", "gated", "delta", "gated_delta"]))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    inputs = {
        "query": uniform(random, count, length, states * queries * size),
        "key": uniform(random, count, length, states * size, low=-0.5, high=0.5),
        "value": uniform(random, count, length, states * values),
    }
    if draw(st.booleans()):
        inputs["past_state"] = uniform(random, count, states, size, values)
    if "gated" in rule:
        decays = states * draw(st.sampled_from([1, size]))
        inputs["decay"] = uniform(random, count, length, decays, low=-2, high=0)
    if "delta" in rule:
        betas = draw(st.sampled_from([1, states]))
        inputs["beta"] = uniform(random, count, length, betas, low=0)
    attributes = {
        "q_num_heads": states * queries,
        "kv_num_heads": states,
        "update_rule": rule,
        "scale": draw(st.sampled_from([0.0, 0.5, -2.0])),
    }
    return Call(inputs, attributes)


@st.composite
def causal_conv_calls(draw: Any) -> Call:
    """Return kernels that are longer and shorter than the input, with and without a past."""
    count, channels, length, taps = (draw(st.integers(1, limit)) for limit in (2, 5, 20, 9))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    inputs = {
        "input": uniform(random, count, channels, length),
        "weight": uniform(random, channels, 1, taps),
    }
    if draw(st.booleans()):
        inputs["bias"] = uniform(random, channels)
    if draw(st.booleans()) and taps > 1:
        inputs["past_state"] = uniform(random, count, channels, taps - 1)
    return Call(inputs, {"activation": draw(st.sampled_from(["none", "silu", "swish"]))})


@st.composite
def cum_prod_calls(draw: Any) -> Call:
    """Return powers of 2, of which all products are exact, and integers."""
    dtype = draw(st.sampled_from([np.float32, np.int32, np.int64]))
    powers = st.sampled_from([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0, np.inf, np.nan, 0.0])
    elements = powers if dtype == np.float32 else integers_as(dtype, 6)
    x = draw(hnp.arrays(dtype, shapes(max_side=9), elements=elements))
    flags = {name: draw(st.integers(0, 1)) for name in ("exclusive", "reverse")}
    return Call({"x": x, "axis": np.array(draw(axes(x.ndim)))}, flags)


RANDOM = {
    "CumProd": Random(cum_prod_calls(), [26], count=80),
    # onnxruntime adds in float32, too: states of up to 5 positions, sums of up to 9 products.
    "LinearAttention": Random(linear_attention_calls(), [27], rtol=1e-5, atol=1e-5, count=100),
    # Sums of up to 9 products up to 1.
    "CausalConvWithState": Random(causal_conv_calls(), [27], rtol=1e-5, atol=1e-6, count=100),
}

ATTENDED = {
    "query": zeros(2, 5, 24),
    "key": zeros(2, 5, 12),
    "value": zeros(2, 5, 16),
    "past_state": zeros(2, 2, 6, 8),
    "decay": zeros(2, 5, 2),
    "beta": zeros(2, 5, 1),
}
HEADS = {"q_num_heads": 4, "kv_num_heads": 2}
CONVOLVED = {
    "input": zeros(2, 3, 5),
    "weight": zeros(3, 1, 4),
    "bias": zeros(3),
    "past_state": zeros(2, 3, 3),
}

INVALID_CHANGES: list[tuple[dict[str, Array], dict[str, Any], str]] = [
    ({}, {"q_num_heads": 3}, "q_num_heads must be a multiple of kv_num_heads"),
    ({"query": zeros(10, 24)}, {}, "query must be"),
    ({"query": zeros(2, 5, 26)}, {}, "query must be"),
    ({"query": zeros(2, 5, 4 * 513), "key": zeros(2, 5, 2 * 513)}, {}, "keys of 1 to 512"),
    ({"key": zeros(2, 5, 14)}, {}, "key must be"),
    ({"key": zeros(1, 5, 12)}, {}, "key must be"),
    ({"value": zeros(2, 4, 16)}, {}, "value must be"),
    ({"value": zeros(2, 5, 17)}, {}, "value must be"),
    ({"past_state": zeros(2, 2, 8, 6)}, {}, "past_state must be"),
    ({"past_state": zeros(2, 1, 6, 8)}, {}, "past_state must be"),
    ({"decay": zeros(2, 5, 6)}, {}, "decay must be"),
    ({"decay": zeros(2, 1, 2)}, {}, "decay must be"),
    ({"beta": zeros(2, 5, 4)}, {}, "beta must be"),
]
INVALID = [
    *(
        InvalidCall(
            "LinearAttention",
            called,
            {**HEADS, **params},
            {
                "output": (2, 5, called["value"].shape[2] // 2 * params.get("q_num_heads", 4)),
                "present_state": called["past_state"].shape,
            },
            problem,
        )
        for inputs, params, problem in INVALID_CHANGES
        for called in [ATTENDED | inputs]
    ),
    *(
        InvalidCall("CumProd", {"x": zeros(2, 3)}, {"axis": axis}, {"y": (2, 3)}, "axis must be")
        for axis in (2, -3)
    ),
    *(
        InvalidCall(
            "CausalConvWithState",
            called,
            {},
            {"output": called["input"].shape, "present_state": called["past_state"].shape},
            problem,
        )
        for inputs, problem in [
            ({"input": zeros(6, 5)}, "input must be"),
            ({"weight": zeros(2, 1, 4)}, "weight must be"),
            ({"weight": zeros(3, 2, 4)}, "weight must be"),
            ({"bias": zeros(4)}, "bias must be"),
            ({"past_state": zeros(2, 3, 4)}, "past_state must be"),
            ({"past_state": zeros(1, 3, 3)}, "past_state must be"),
        ]
        for called in [CONVOLVED | inputs]
    ),
]

SCANNED = {
    **{name: zeros(2, 5, 3) for name in ("u", "delta")},
    "a": zeros(3, 4),
    **{name: zeros(2, 5, 4) for name in ("b", "c")},
    **{name: zeros(3) for name in ("d", "delta_bias")},
    "past_state": zeros(2, 3, 4),
}
MIXED = {
    "WKV6": {**{name: zeros(2, 5, 12) for name in "rwk"}, "v": zeros(2, 5, 18), "u": zeros(3, 4)},
    "WKV7": {
        **{name: zeros(2, 5, 12) for name in "rwk"},
        "v": zeros(2, 5, 18),
        **{name: zeros(2, 5, 12) for name in "ab"},
    },
}
STATE = {"past_state": zeros(2, 3, 4, 6)}
MIXED_CHANGES: list[tuple[dict[str, Array], str]] = [
    ({"past_state": zeros(2, 3, 4)}, "past_state must be"),
    ({"past_state": zeros(2, 3, 513, 6)}, "with keys of 1 to 512 elements"),
    ({"past_state": zeros(1, 3, 4, 6)}, "r must be"),
    ({"r": zeros(2, 5, 13)}, "r must be"),
    ({"w": zeros(2, 5, 3)}, "w must be"),
    ({"k": zeros(2, 4, 12)}, "k must be"),
    ({"v": zeros(2, 5, 12)}, "v must be"),
]
INVALID += [
    *(
        InvalidCall(
            "SelectiveScan",
            called,
            {},
            {"y": called["u"].shape, "present_state": called["past_state"].shape},
            problem,
        )
        for inputs, problem in [
            ({"u": zeros(10, 3)}, "u must be"),
            ({"a": zeros(4, 3)}, "a must be"),
            ({"a": zeros(3, 257)}, "with 1 to 256 states"),
            ({"delta": zeros(2, 5, 1)}, "delta must be"),
            ({"b": zeros(2, 5, 3)}, "b must be"),
            ({"c": zeros(1, 5, 4)}, "c must be"),
            ({"d": zeros(1)}, "d must be"),
            ({"delta_bias": zeros(4)}, "delta_bias must be"),
            ({"past_state": zeros(2, 4, 3)}, "past_state must be"),
        ]
        for called in [SCANNED | inputs]
    ),
    *(
        InvalidCall(
            name,
            called,
            {},
            {"y": called["v"].shape, "present_state": called["past_state"].shape},
            problem,
        )
        for name, own in [
            ("WKV6", ({"u": zeros(4, 3)}, "u must be")),
            ("WKV7", ({"a": zeros(2, 5, 4)}, "a must be")),
            ("WKV7", ({"b": zeros(2, 1, 12)}, "b must be")),
        ]
        for inputs, problem in [*MIXED_CHANGES, own]
        for called in [MIXED[name] | STATE | inputs]
    ),
]

NODE_TESTS = {"CumProd": 9, "LinearAttention": 14, "CausalConvWithState": 13}

TABLE = Table(RANDOM, NODE_TESTS, invalid=INVALID)
