"""Pooling and rotary embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from opkit.runtimes.invocation import Array
from tests.operators.calls.common import InvalidCall, Random, Table, zeros
from tests.operators.oracle import Call


@st.composite
def rotary_embedding_calls(draw: Any) -> Call:
    """Return both forms of x and of the caches; some elements are not finite."""
    count, heads, positions, pairs = (draw(st.integers(1, limit)) for limit in (2, 4, 5, 9))
    rest = 2 * draw(st.integers(0, 2))
    size = 2 * pairs + rest
    attributes = {"interleaved": draw(st.integers(0, 1))}
    if rest:
        attributes["rotary_embedding_dim"] = 2 * pairs
    is_by_head = draw(st.booleans())
    if not is_by_head or rest:  # onnxruntime wants it
        attributes["num_heads"] = heads
    shape = (count, heads, positions, size) if is_by_head else (count, positions, heads * size)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    x = random.uniform(-1, 1, shape)
    x.flat[draw(st.integers(0, x.size - 1))] = draw(st.sampled_from([0.0, np.inf, np.nan]))
    rows = positions + draw(st.integers(0, 4))  # onnxruntime wants one for each position
    has_ids = draw(st.booleans())
    cache = (rows, pairs) if has_ids else (count, positions, pairs)
    inputs: dict[str, Array] = {
        "X": x.astype(np.float32),
        "cos_cache": random.uniform(-1, 1, cache).astype(np.float32),
        "sin_cache": random.uniform(-1, 1, cache).astype(np.float32),
    }
    if has_ids:
        inputs["position_ids"] = random.integers(0, rows, (count, positions))
    return Call(inputs, attributes)


RANDOM = {
    # Both round two products up to 1 to float32.
    "RotaryEmbedding": Random(rotary_embedding_calls(), [23], atol=2e-7, count=100),
}

ROTATED = {
    "x": zeros(2, 4, 3, 8),
    "cos_cache": zeros(9, 4),
    "sin_cache": zeros(9, 4),
    "position_ids": zeros(2, 3, dtype=np.int64),
}
OF_POSITIONS = {"cos_cache": zeros(2, 3, 4), "sin_cache": zeros(2, 3, 4)}

INVALID = [
    *(
        InvalidCall("RotaryEmbedding", called, params, {"y": called["x"].shape}, problem)
        for inputs, params, problem in [
            ({"x": zeros(6, 16)}, {}, "x must be"),
            ({"x": zeros(2, 3, 32)}, {}, "num_heads must be above 0"),
            ({"x": zeros(2, 3, 32)}, {"num_heads": 5}, "and divide the last dimension of x"),
            ({}, {"num_heads": 3}, "num_heads must be 0 or that of x"),
            ({}, {"interleaved": 2}, "interleaved must be 0 or 1"),
            ({}, {"rotary_embedding_dim": 3}, "rotary_embedding_dim must be even"),
            ({}, {"rotary_embedding_dim": 10}, "from 0 to the size of a head"),
            ({}, {"rotary_embedding_dim": -2}, "from 0 to the size of a head"),
            ({"x": zeros(2, 4, 3, 7)}, {}, "and not 0 if that is odd"),
            ({"cos_cache": zeros(9, 8)}, {}, "cos_cache must be"),
            ({"cos_cache": zeros(2, 1, 4)}, {}, "cos_cache must be"),
            ({"sin_cache": zeros(8, 4)}, {}, "sin_cache must have the shape of cos_cache"),
            ({"position_ids": zeros(1, 3, dtype=np.int64)}, {}, "position_ids must be"),
            ({"position_ids": np.full((2, 3), 9)}, {}, "position_ids must be rows of the caches"),
            ({"position_ids": np.full((2, 3), -1)}, {}, "position_ids must be rows of the caches"),
            (OF_POSITIONS | {"position_ids": np.ones((2, 3), np.int64)}, {}, "ids must be 0 with"),
        ]
        for called in [ROTATED | inputs]
    ),
]

TABLE = Table(RANDOM, {"RotaryEmbedding": 8}, invalid=INVALID)
