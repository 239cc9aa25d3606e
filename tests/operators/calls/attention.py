"""Operators of attention, which are not ONNX's."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from opkit.check.cases import Case
from opkit.runtimes.invocation import Array
from tests.operators.calls.common import InvalidCall, Table, floats, zeros


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
]

TABLE = Table({}, {}, invalid=INVALID)
