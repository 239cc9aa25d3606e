"""Recurrences along time: recurrent layers, linear attention, causal convolutions, products."""

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


@st.composite
def rnn_calls(draw: Any) -> Call:
    """Return all directions and functions, with and without a past, biases and lengths."""
    length, count, size, hidden = (draw(st.integers(1, limit)) for limit in (6, 6, 19, 19))
    direction = draw(st.sampled_from(["forward", "reverse", "bidirectional"]))
    directions = 2 if direction == "bidirectional" else 1
    random = np.random.default_rng(draw(st.integers(0, 99)))
    inputs: dict[str, Array] = {
        "X": uniform(random, length, count, size),
        "W": uniform(random, directions, hidden, size) / 2,
        "R": uniform(random, directions, hidden, hidden) / 2,
    }
    if draw(st.booleans()):
        inputs["B"] = uniform(random, directions, 2 * hidden)
    if draw(st.booleans()):
        inputs["sequence_lens"] = random.integers(0, length, count, np.int32, endpoint=True)
        inputs["sequence_lens"][0] = length  # onnxruntime stops at the longest one
    if draw(st.booleans()):
        inputs["initial_h"] = uniform(random, directions, count, hidden)
    functions = st.sampled_from(["Tanh", "Relu", "Sigmoid"])
    attributes: dict[str, Any] = {
        "activations": [draw(functions) for _ in range(directions)],
        "direction": direction,
        "hidden_size": hidden,
    }
    if draw(st.booleans()):
        attributes["clip"] = draw(st.sampled_from([0.25, 1.0]))
    return Call(inputs, attributes)


RANDOM = {
    # Sums of up to 19 products of x and 19 of a state, of up to 6 positions; Relu does not limit.
    "RNN": Random(rnn_calls(), [7, 14, 22], rtol=1e-5, atol=1e-5, count=150),
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
RECURRENT: dict[str, Array] = {
    "x": zeros(5, 3, 9),
    "w": zeros(1, 4, 9),
    "r": zeros(1, 4, 4),
    "b": zeros(1, 8),
    "sequence_lens": np.array([5, 0, 2], np.int32),
    "initial_h": zeros(1, 3, 4),
}


def recurrent_shapes(called: dict[str, Array], params: dict[str, Any]) -> dict[str, Any]:
    """Return the shapes that a runtime infers for a call of RNN."""
    first, second = called["x"].shape[:2] if called["x"].ndim == 3 else (5, 3)
    directions, _, hidden = called["r"].shape
    if params.get("layout"):
        return {"y": (first, second, directions, hidden), "y_h": (first, directions, hidden)}
    return {"y": (first, directions, second, hidden), "y_h": (directions, second, hidden)}


RECURRENT_CHANGES: list[tuple[dict[str, Array], dict[str, Any], str]] = [
    ({"x": zeros(15, 9)}, {}, "x must be"),
    ({"w": zeros(1, 4, 8)}, {}, "w must be"),
    ({"w": zeros(1, 5, 9)}, {}, "w must be"),
    ({"w": zeros(2, 4, 9)}, {}, "w must be"),
    ({"r": zeros(1, 4, 5)}, {}, "r must be"),
    ({"r": zeros(2, 4, 4)}, {}, "r must be"),
    ({}, {"hidden_size": 5}, "r must be"),
    ({}, {"direction": "bidirectional", "activations": "Tanh"}, "for each direction"),
    ({"b": zeros(1, 4)}, {}, "b must be"),
    ({"b": zeros(2, 8)}, {}, "b must be"),
    ({"b": zeros(8)}, {}, "b must be"),
    ({"initial_h": zeros(3, 1, 4)}, {}, "initial_h must be"),
    ({"initial_h": zeros(1, 1, 4)}, {}, "initial_h must be"),
    ({"initial_h": zeros(1, 3, 5)}, {}, "initial_h must be"),
    ({}, {"layout": 1}, "initial_h must be"),
    *(
        ({"sequence_lens": np.array(lengths, np.int32)}, {}, "sequence_lens must be")
        for lengths in ([6, 1, 1], [-1, 1, 1], [1, 1], [-2], [2])
    ),
]
INVALID = [
    *(
        InvalidCall(
            "RNN",
            RECURRENT | inputs,
            params,
            recurrent_shapes(RECURRENT | inputs, params),
            problem,
        )
        for inputs, params, problem in RECURRENT_CHANGES
    ),
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

NODE_TESTS = {"RNN": 4, "CumProd": 9, "LinearAttention": 14, "CausalConvWithState": 13}

TABLE = Table(RANDOM, NODE_TESTS, invalid=INVALID)
