"""The ends of detectors and speech models, and unpooling."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from opkit.runtimes.invocation import Array
from tests.operators.calls.common import InvalidCall, Random, Table, zeros
from tests.operators.oracle import Call


@st.composite
def max_unpool_calls(draw: Any) -> Call:
    """Return images of all ranks, without output_shape, which onnxruntime reads otherwise."""
    count = draw(st.integers(1, 3))
    sides = st.lists(st.integers(1, 4), min_size=count, max_size=count)
    x, kernel, strides = [*draw(sides)], [*draw(sides)], [*draw(sides)]
    batches, channels = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    pads = [draw(st.integers(0, (side - 1) // 2)) for side in kernel] * 2
    image = [(x[i] - 1) * strides[i] + kernel[i] - pads[i] - pads[count + i] for i in range(count)]
    size = batches * channels * int(np.prod(image))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    shape = (batches, channels, *x)
    inputs: dict[str, Array] = {
        "X": random.uniform(-1, 1, shape).astype(np.float32),
        "I": random.integers(0, size, shape),
    }
    return Call(inputs, {"kernel_shape": kernel, "strides": strides, "pads": pads})


RANDOM = {"MaxUnpool": Random(max_unpool_calls(), [9, 11, 22], count=80)}

POOLED = {"x": zeros(1, 2, 2, 3), "i": np.zeros((1, 2, 2, 3), np.int64)}
WINDOW = {"kernel_shape": [2, 2], "strides": [2]}
UNPOOLED: list[tuple[dict[str, Array], dict[str, Any], str]] = [
    ({name: each[0, 0] for name, each in POOLED.items()}, {}, "x must be"),
    ({}, {"kernel_shape": [2]}, "kernel_shape and strides must have"),
    ({}, {"strides": [1, 1, 1]}, "kernel_shape and strides must have"),
    ({}, {"pads": [0, 0]}, "and pads two"),
    ({}, {"strides": [0]}, "must be above 0"),
    ({}, {"kernel_shape": [2, 0]}, "must be above 0"),
    ({}, {"pads": [0, 0, 0, -1]}, "pads not negative"),
    ({}, {"pads": [2]}, "pads must leave an image"),
    ({}, {"output_shape": [1, 2, 4, 5]}, "output_shape must have"),
    ({}, {"output_shape": [2, 2, 4, 6]}, "output_shape must have"),
    ({}, {"output_shape": [1, 2, 4, 6, 1]}, "output_shape must have"),
    ({"i": np.zeros((1, 2, 3, 2), np.int64)}, {}, "i must have the shape of x"),
    ({"i": np.full((1, 2, 2, 3), -1)}, {}, "i must be from 0"),
    ({"i": np.full((1, 2, 2, 3), 48)}, {}, "i must be from 0"),
]

SCORED: dict[str, Array] = {"data": zeros(2, 5, 3), "sequence_length": np.array([5, 0], np.int32)}
SCORED_CHANGES: list[tuple[dict[str, Array], dict[str, Any], str]] = [
    ({"data": zeros(10, 3)}, {}, "data must be"),
    ({}, {"blank_index": 3}, "blank_index must be"),
    ({"sequence_length": np.array([5], np.int32)}, {}, "sequence_length must be"),
    ({"sequence_length": np.array([[5, 5]], np.int32)}, {}, "sequence_length must be"),
    ({"sequence_length": np.array([6, 1], np.int32)}, {}, "sequence_length must be from 0 to T"),
    ({"sequence_length": np.array([1, -1], np.int32)}, {}, "sequence_length must be from 0 to T"),
]

DETECTED = {"boxes": zeros(2, 6, 4), "scores": zeros(2, 6, 3), "anchors": zeros(1, 6, 4)}
DETECTION = {"iou_threshold": 0.5, "score_threshold": 0.5, "max_output_boxes": 7}
DETECTED_CHANGES: list[tuple[dict[str, Array], str]] = [
    ({"boxes": zeros(2, 6, 3)}, "boxes must be"),
    ({"boxes": zeros(2, 6, 3, 4)}, "boxes must be"),
    ({"scores": zeros(2, 5, 3)}, "scores must be"),
    ({"scores": zeros(1, 6, 3)}, "scores must be"),
    ({"scores": zeros(2, 6)}, "scores must be"),
    ({"anchors": zeros(2)}, "anchors must be"),
    ({"anchors": zeros(6, 4)}, "anchors must be"),
    ({"anchors": zeros(3, 6, 4)}, "anchors must be"),
    ({"anchors": zeros(1, 5, 4)}, "anchors must be"),
    ({"anchors": zeros(1, 6, 5)}, "anchors must be"),
]

ADDED = {"input": zeros(2, 3, 4), "skip": zeros(3, 4), "gamma": zeros(4), "bias": zeros(4)}
ADDED_CHANGES: list[tuple[dict[str, Array], str]] = [
    ({"input": zeros(4)}, "input must be"),
    ({"input": zeros(1, 2, 3, 4)}, "input must be"),
    ({"skip": zeros(3, 3, 4)}, "skip must have"),
    ({"skip": zeros(2, 4)}, "skip must have"),
    ({"skip": zeros(3, 5)}, "skip must have"),
    ({"skip": zeros(4)}, "skip must have"),
    ({"gamma": zeros(1)}, "gamma must be"),
    ({"gamma": zeros(1, 4)}, "gamma must be"),
    ({"bias": zeros(3)}, "bias must be"),
]

I32 = np.dtype(np.int32)
INVALID = [
    *(
        InvalidCall("MaxUnpool", POOLED | inputs, WINDOW | params, {"output": shape}, problem)
        for inputs, params, problem in UNPOOLED
        for shape in [(1, 2, 4, 6)]
    ),
    *(
        InvalidCall(
            "CTCGreedyDecoder",
            SCORED | inputs,
            params,
            {"classes_index": ((2, 5), I32), "count": ((2,), I32), "score": (2,)},
            problem,
        )
        for inputs, params, problem in SCORED_CHANGES
    ),
    *(
        InvalidCall(
            "CTCBeamSearchDecoder",
            SCORED | inputs,
            {"beam_width": 4, "top_paths": 2} | params,
            {
                "classes_index": ((2, params.get("top_paths", 2), 5), I32),
                "count": ((2, params.get("top_paths", 2)), I32),
                "log_probability": (2, params.get("top_paths", 2)),
            },
            problem,
        )
        for inputs, params, problem in [
            *SCORED_CHANGES,
            ({}, {"top_paths": 5}, "top_paths must be at most beam_width"),
        ]
    ),
    *(
        InvalidCall(
            "DetectionOutput",
            DETECTED | inputs,
            DETECTION,
            {
                "num_detections": ((2, 1), I32),
                "detection_boxes": (2, 7, 4),
                "detection_scores": (2, 7),
                "detection_classes": ((2, 7), I32),
            },
            problem,
        )
        for inputs, problem in DETECTED_CHANGES
    ),
    *(
        InvalidCall(
            "SkipSimplifiedLayerNormalization",
            called,
            {},
            dict.fromkeys(("output", "input_skip_bias_sum"), called["input"].shape),
            problem,
        )
        for inputs, problem in ADDED_CHANGES
        for called in [ADDED | inputs]
    ),
]

TABLE = Table(RANDOM, {"MaxUnpool": 2}, invalid=INVALID)
