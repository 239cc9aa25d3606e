"""Calls of the operators on the same tables of floats, from tiny to large.

Operators of images take a table's rows as channels, and the length of a row, a square, as an image.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt

import numpy as np

from benchmarks.operators.calls import (
    Sample,
    booleans,
    boxes,
    constant,
    elementwise,
    integers,
    normal,
    permutations,
    reductions,
    regions,
    uniform,
)

SHAPES: Mapping[str, tuple[int, int]] = {
    "256": (4, 64),
    "short rows": (1 << 14, 16),
    "long rows": (4, 1 << 16),
    "2^24": (1 << 12, 1 << 12),
}
"""Name -> rows, and the length of a row."""
_MAX_ELEMENTS = {
    **dict.fromkeys(["DeformConv", "NonMaxSuppression", "STFT"], 1 << 18),
    **dict.fromkeys(["Col2Im", "DFT", "ScatterElements", "TopK"], 1 << 22),
}
"""Operators with more work for an element -> the elements of the largest table."""


def sample(name: str, shape: str) -> Sample | None:
    """Return the call of an operator on a table.

    Args:
        name: ONNX's operator.
        shape: of SHAPES.

    Returns:
        The call; None: the operator has none.
    """
    rows, length = SHAPES[shape]
    most = max(1, _MAX_ELEMENTS.get(name, 1 << 24) // length)
    return _samples(min(rows, most), length).get(name)


def _samples(rows: int, length: int) -> Mapping[str, Sample]:
    """Return operator of ONNX -> its call on a table."""
    table = normal(rows, length)
    return {
        **elementwise((rows, length)),
        **reductions((rows, length), [1]),
        **_of_images(rows, isqrt(length)),
        "TopK": Sample({"X": table, "K": constant([max(1, length // 10)])}),
        "ScatterElements": Sample(
            {"data": table, "indices": permutations(rows, length), "updates": table}, {"axis": 1}
        ),
        "ScatterND": Sample(
            {
                "data": table,
                "indices": lambda random: random.permutation(rows)[: rows // 4, None],
                "updates": normal(rows // 4, length),
            }
        ),
        "GatherND": Sample({"data": table, "indices": integers(rows, rows // 4, 1)}),
        "CumSum": Sample({"x": table, "axis": constant(1)}),
        "OneHot": Sample(
            {
                "indices": integers(rows, length),
                "depth": constant([rows]),
                "values": constant([0, 1], np.float32),
            }
        ),
        "Compress": Sample({"input": table, "condition": booleans(rows)}, {"axis": 0}),
        "NonMaxSuppression": Sample(
            {
                "boxes": boxes(length, rows),
                "scores": uniform(0.0, 1.0, rows, 1, length),
                "max_output_boxes_per_class": constant([300]),
                "iou_threshold": constant([0.5], np.float32),
                "score_threshold": constant([0.25], np.float32),
            }
        ),
        "DFT": Sample({"input": normal(rows, length, 1), "axis": constant(1)}),
        "STFT": Sample(
            {
                "signal": normal(rows, length, 1),
                "frame_step": constant(min(160, length // 8)),
                "window": lambda _: np.hanning(min(400, length // 2)).astype(np.float32),
            }
        ),
        "Einsum": Sample(
            {"Input_0": table, "Input_1": normal(16, length)}, {"equation": "ij,kj->ik"}
        ),
        "LayerNormalization": Sample({"X": table, "Scale": normal(length), "B": normal(length)}),
        "RMSNormalization": Sample({"X": table, "scale": normal(length)}),
        "RotaryEmbedding": Sample(
            {
                "X": normal(1, 4, rows // 4, length),
                "cos_cache": uniform(-1.0, 1.0, 1, rows // 4, length // 2),
                "sin_cache": uniform(-1.0, 1.0, 1, rows // 4, length // 2),
            }
        ),
        "Det": Sample({"X": normal(rows * length // 9, 3, 3)}),
    }


def _of_images(rows: int, side: int) -> Mapping[str, Sample]:
    """Return the calls of operators of images."""
    image = normal(1, rows, side, side)
    channels = min(rows, 16)
    batch = (rows // channels, channels, side, side)
    return {
        "GridSample": Sample({"X": image, "grid": uniform(-1.1, 1.1, 1, side, side, 2)}),
        "DeformConv": Sample(
            {
                "X": normal(*batch),
                "W": normal(channels, channels, 3, 3),
                "offset": normal(batch[0], 18, side, side),
                "B": normal(channels),
                "mask": uniform(0.0, 1.0, batch[0], 9, side, side),
            },
            {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]},
        ),
        "Col2Im": Sample(
            {
                "input": normal(1, rows * 9, side * side),
                "image_shape": constant([side, side]),
                "block_shape": constant([3, 3]),
            },
            {"pads": [1, 1, 1, 1]},
        ),
        "CenterCropPad": Sample(
            {"input_data": image, "shape": constant([side - 2, side + 2])}, {"axes": [2, 3]}
        ),
        "RoiAlign": Sample(
            {"X": image, "rois": regions(16, side * 16.0), "batch_indices": integers(1, 16)},
            {"output_height": 7, "output_width": 7, "sampling_ratio": 2, "spatial_scale": 0.0625},
        ),
        "Trilu": Sample({"input": normal(rows, side, side)}, {"upper": 0}),
        "LpPool": Sample({"X": image}, {"kernel_shape": [3, 3], "strides": [2, 2]}),
        "GlobalLpPool": Sample({"X": image}),
        "GroupNormalization": Sample(
            {"X": image, "scale": normal(rows), "bias": normal(rows)}, {"num_groups": rows // 4}
        ),
        "InstanceNormalization": Sample({"input": image, "scale": normal(rows), "B": normal(rows)}),
        "MeanVarianceNormalization": Sample({"X": image}),
    }
