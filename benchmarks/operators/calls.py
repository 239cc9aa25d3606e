"""The calls of the benchmark, at sizes that detectors and text encoders have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from opkit.runtimes.invocation import Array
from tests.operators.oracle import Call

Make = Callable[[np.random.Generator], Array]
"""Makes the array of an input."""


@dataclass(frozen=True)
class Sample:
    """A call of an operator of ONNX.

    Attributes:
        inputs: input of ONNX's schema -> its array; without the omitted ones.
        attributes: of the node.
    """

    inputs: Mapping[str, Make]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def call(self) -> Call:
        """Return the call, the same at each run."""
        random = np.random.default_rng(0)
        return Call({name: make(random) for name, make in self.inputs.items()}, self.attributes)


def normal(*shape: int) -> Make:
    """Make a normal distribution of float32."""
    return lambda random: random.standard_normal(shape, np.float32)


def uniform(low: float, high: float, *shape: int) -> Make:
    """Make a uniform distribution of float32."""
    return lambda random: random.uniform(low, high, shape).astype(np.float32)


def integers(high: int, *shape: int) -> Make:
    """Make integers of int64, from 0 to below `high`."""
    return lambda random: random.integers(0, high, shape)


def booleans(*shape: int) -> Make:
    """Make truth values."""
    return lambda random: random.random(shape) < 0.5


def permutations(rows: int, length: int) -> Make:
    """Make rows of int64, each with all numbers from 0 to below `length`."""
    return lambda random: random.permuted(np.tile(np.arange(length), (rows, 1)), axis=1)


def constant(values: Any, dtype: Any = np.int64) -> Make:
    """Make an array of values."""
    return lambda _: np.array(values, dtype)


def boxes(count: int) -> Make:
    """Make boxes [1, count, 4], of which many overlap: y1, x1, y2, x2."""

    def make(random: np.random.Generator) -> Array:
        low = random.uniform(0, 600, (1, count, 2))
        return np.concatenate([low, low + random.uniform(8, 80, low.shape)], -1).astype(np.float32)

    return make


def regions(count: int, side: float) -> Make:
    """Make regions of an image [count, 4]: x1, y1, x2, y2."""

    def make(random: np.random.Generator) -> Array:
        low = random.uniform(0, side / 2, (count, 2))
        high = low + random.uniform(side / 16, side / 2, low.shape)
        return np.concatenate([low, high], -1).astype(np.float32)

    return make


FEATURES = (1, 256, 64, 64)
"""The shape of a detector's features."""
HIDDEN = (1, 128, 768)
"""The shape of a text encoder's hidden states."""


def _of_features(make: Callable[..., Make], **attributes: Any) -> Sample:
    return Sample({"X": make(*FEATURES)}, attributes)


_ELEMENTWISE: dict[str, Callable[..., Make]] = {
    **dict.fromkeys(["Acos", "Asin"], partial(uniform, -1.0, 1.0)),
    "Acosh": partial(uniform, 1.0, 9.0),
    "Reciprocal": partial(uniform, 0.5, 4.0),
    **dict.fromkeys(
        ["Asinh", "Atan", "Ceil", "Cosh", "Exp", "Mish", "Neg", "Round", "Selu", "Sign", "Sinh"],
        normal,
    ),
    **dict.fromkeys(["Celu", "Gelu", "IsInf", "IsNaN", "Softsign", "Tan"], normal),
    **dict.fromkeys(["ThresholdedRelu"], normal),
    "Atanh": partial(uniform, -0.9, 0.9),
}
"""Operators of one input -> its elements."""
_NAMED_INPUT = {
    **dict.fromkeys(
        ["Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Exp", "Sign", "Sinh"], "input"
    ),
    **dict.fromkeys(["Softsign", "Tan"], "input"),
}
"""Those operators whose input is not named X."""
_REDUCTIONS = (
    *("ReduceL1", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceProd"),
    "ReduceSumSquare",
)
_IMAGE = {"scale": normal(256), "bias": normal(256)}

SAMPLES: dict[str, Sample] = {
    # Elementwise.
    **{
        name: Sample({_NAMED_INPUT.get(name, "X"): make(*FEATURES)})
        for name, make in _ELEMENTWISE.items()
    },
    "Shrink": Sample({"input": normal(*FEATURES)}, {"bias": 0.5}),
    "Mod": Sample({"A": normal(*FEATURES), "B": uniform(0.5, 2.0, *FEATURES)}, {"fmod": 1}),
    **dict.fromkeys(
        ["Mean", "Sum"], Sample({"data_0": normal(*FEATURES), "data_1": normal(*FEATURES)})
    ),
    **dict.fromkeys(["Or", "Xor"], Sample({"A": booleans(*FEATURES), "B": booleans(*FEATURES)})),
    "Not": _of_features(booleans),
    # Sampling and geometry.
    "GridSample": Sample({"X": normal(*FEATURES), "grid": uniform(-1.1, 1.1, 1, 64, 64, 2)}),
    "DeformConv": Sample(
        {
            "X": normal(1, 64, 40, 40),
            "W": normal(64, 64, 3, 3),
            "offset": normal(1, 18, 40, 40),
            "B": normal(64),
            "mask": uniform(0.0, 1.0, 1, 9, 40, 40),
        },
        {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]},
    ),
    "Col2Im": Sample(
        {
            "input": normal(1, 64 * 9, 64 * 64),
            "image_shape": constant([64, 64]),
            "block_shape": constant([3, 3]),
        },
        {"pads": [1, 1, 1, 1]},
    ),
    "CenterCropPad": Sample(
        {"input_data": normal(*FEATURES), "shape": constant([56, 72])}, {"axes": [2, 3]}
    ),
    "RoiAlign": Sample(
        {
            "X": normal(*FEATURES),
            "rois": regions(100, 1024.0),
            "batch_indices": integers(1, 100),
        },
        {"output_height": 7, "output_width": 7, "sampling_ratio": 2, "spatial_scale": 0.0625},
    ),
    # Indexing and sorting.
    "TopK": Sample({"X": normal(1, 8400), "K": constant([300])}),
    "ScatterElements": Sample(
        {
            "data": normal(256, 1024),
            "indices": permutations(256, 1024),
            "updates": normal(256, 1024),
        },
        {"axis": 1},
    ),
    "ScatterND": Sample(
        {
            "data": normal(4096, 256),
            "indices": lambda random: random.permutation(4096)[:1024, None],
            "updates": normal(1024, 256),
        }
    ),
    "GatherND": Sample({"data": normal(4096, 256), "indices": integers(4096, 1024, 1)}),
    "CumSum": Sample({"x": normal(64, 512, 64), "axis": constant(1)}),
    "Trilu": Sample({"input": normal(12, 512, 512)}, {"upper": 0}),
    "OneHot": Sample(
        {
            "indices": integers(1000, 512),
            "depth": constant([1000]),
            "values": constant([0, 1], np.float32),
        }
    ),
    "Compress": Sample({"input": normal(4096, 256), "condition": booleans(4096)}, {"axis": 0}),
    "NonMaxSuppression": Sample(
        {
            "boxes": boxes(8400),
            "scores": uniform(0.0, 1.0, 1, 1, 8400),
            "max_output_boxes_per_class": constant([300]),
            "iou_threshold": constant([0.5], np.float32),
            "score_threshold": constant([0.25], np.float32),
        }
    ),
    # Reductions and normalizations.
    **{
        name: Sample({"data": uniform(0.5, 1.5, *FEATURES), "axes": constant([2, 3])})
        for name in _REDUCTIONS
    },
    "LpPool": _of_features(normal, kernel_shape=[3, 3], strides=[2, 2]),
    "GlobalLpPool": _of_features(normal),
    "GroupNormalization": Sample({"X": normal(*FEATURES), **_IMAGE}, {"num_groups": 32}),
    "InstanceNormalization": Sample(
        {"input": normal(*FEATURES), "scale": normal(256), "B": normal(256)}
    ),
    "LayerNormalization": Sample({"X": normal(*HIDDEN), "Scale": normal(768), "B": normal(768)}),
    "RMSNormalization": Sample({"X": normal(*HIDDEN), "scale": normal(768)}),
    "RotaryEmbedding": Sample(
        {
            "X": normal(1, 12, 128, 64),
            "cos_cache": uniform(-1.0, 1.0, 1, 128, 32),
            "sin_cache": uniform(-1.0, 1.0, 1, 128, 32),
        }
    ),
    "MeanVarianceNormalization": _of_features(normal),
    "Det": Sample({"X": normal(4096, 3, 3)}),
    # Signals.
    "DFT": Sample({"input": normal(1, 128, 512, 1), "axis": constant(2)}),
    "STFT": Sample(
        {
            "signal": normal(1, 16000, 1),
            "frame_step": constant(160),
            "window": lambda _: np.hanning(400).astype(np.float32),
        }
    ),
    "Einsum": Sample(
        {"Input_0": normal(1, 12, 128, 64), "Input_1": normal(1, 12, 128, 64)},
        {"equation": "bhqd,bhkd->bhqk"},
    ),
}
"""Operator of ONNX -> its call. The names of repeated inputs end with an index."""
