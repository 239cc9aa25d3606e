"""The calls of the benchmark, at sizes that detectors and text encoders have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


def whole(dtype: Any, *shape: int) -> Make:
    """Make all integers of a dtype."""
    limits = np.iinfo(dtype)
    return lambda random: random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def weights(*shape: int) -> Make:
    """Make int8 of 7 bits, as quantizers do for processors without VNNI.

    There, onnxruntime saturates the sum of two products of 8 bits.
    """
    return lambda random: random.integers(-64, 63, shape, np.int8, endpoint=True)


def booleans(*shape: int) -> Make:
    """Make truth values."""
    return lambda random: random.random(shape) < 0.5


def permutations(rows: int, length: int) -> Make:
    """Make rows of int64, each with all numbers from 0 to below `length`."""
    return lambda random: random.permuted(np.tile(np.arange(length), (rows, 1)), axis=1)


def constant(values: Any, dtype: Any = np.int64) -> Make:
    """Make an array of values."""
    return lambda _: np.array(values, dtype)


def boxes(count: int, batch: int = 1) -> Make:
    """Make boxes [batch, count, 4], of which many overlap: y1, x1, y2, x2."""

    def make(random: np.random.Generator) -> Array:
        low = random.uniform(0, 600, (batch, count, 2))
        return np.concatenate([low, low + random.uniform(8, 80, low.shape)], -1).astype(np.float32)

    return make


def regions(count: int, side: float) -> Make:
    """Make regions of an image [count, 4]: x1, y1, x2, y2."""

    def make(random: np.random.Generator) -> Array:
        low = random.uniform(0, side / 2, (count, 2))
        high = low + random.uniform(side / 16, side / 2, low.shape)
        return np.concatenate([low, high], -1).astype(np.float32)

    return make


def pooled_places(channels: int, height: int, width: int) -> Make:
    """Make the places of the largest elements of windows of 2 x 2, [1, channels, height, width]."""

    def make(random: np.random.Generator) -> Array:
        shape = (channels, height, width)
        channel, row, column = np.indices(shape)
        rows, columns = random.integers(0, 2, (2, *shape)) + 2 * np.array([row, column])
        places: Array = (channel * 2 * height + rows) * 2 * width + columns
        return places[np.newaxis]

    return make


_ELEMENTWISE: dict[str, Callable[..., Make]] = {
    **dict.fromkeys(["Acos", "Asin"], partial(uniform, -1.0, 1.0)),
    "Acosh": partial(uniform, 1.0, 9.0),
    "Reciprocal": partial(uniform, 0.5, 4.0),
    **dict.fromkeys(
        ["Asinh", "Atan", "Ceil", "Cosh", "Exp", "Mish", "Neg", "Round", "Selu", "Sign", "Sinh"],
        normal,
    ),
    **dict.fromkeys(["Celu", "Gelu", "IsInf", "IsNaN", "Softsign", "Swish", "Tan"], normal),
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


def elementwise(features: tuple[int, ...]) -> dict[str, Sample]:
    """Return the calls of elementwise operators on tensors of a shape."""
    return {
        **{
            name: Sample({_NAMED_INPUT.get(name, "X"): make(*features)})
            for name, make in _ELEMENTWISE.items()
        },
        "Shrink": Sample({"input": normal(*features)}, {"bias": 0.5}),
        "Mod": Sample({"A": normal(*features), "B": uniform(0.5, 2.0, *features)}, {"fmod": 1}),
        **dict.fromkeys(
            ["Mean", "Sum"], Sample({"data_0": normal(*features), "data_1": normal(*features)})
        ),
        **dict.fromkeys(
            ["Or", "Xor"], Sample({"A": booleans(*features), "B": booleans(*features)})
        ),
        "SwiGLU": Sample({"A": normal(*features), "B": normal(*features)}),
        "Not": Sample({"X": booleans(*features)}),
        "CastLike": Sample({"input": whole(np.int32, *features), "target_type": normal(1)}),
        "BitCast": Sample({"input": normal(*features)}, {"to": 6}),
        **dict.fromkeys(
            ["BitwiseAnd", "BitwiseOr", "BitwiseXor"],
            Sample({"A": whole(np.int32, *features), "B": whole(np.int32, *features)}),
        ),
        "BitwiseNot": Sample({"X": whole(np.int32, *features)}),
        "BitShift": Sample(
            {
                "X": whole(np.uint32, *features),
                "Y": lambda random: random.integers(0, 32, features, np.uint32),
            },
            {"direction": "RIGHT"},
        ),
    }


def _sampling(part: int) -> dict[str, Sample]:
    """Return the calls of operators of sampling and geometry."""
    side = 64 // part
    features = (1, 256 // part, side, side)
    return {
        "GridSample": Sample(
            {"X": normal(*features), "grid": uniform(-1.1, 1.1, 1, side, side, 2)}
        ),
        "DeformConv": Sample(
            {
                "X": normal(1, side, 40 // part, 40 // part),
                "W": normal(side, side, 3, 3),
                "offset": normal(1, 18, 40 // part, 40 // part),
                "B": normal(side),
                "mask": uniform(0.0, 1.0, 1, 9, 40 // part, 40 // part),
            },
            {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]},
        ),
        "AffineGrid": Sample(
            {"theta": normal(4, 2, 3), "size": constant([4, 3, 256 // part, 256 // part])}
        ),
        "Col2Im": Sample(
            {
                "input": normal(1, side * 9, side * side),
                "image_shape": constant([side, side]),
                "block_shape": constant([3, 3]),
            },
            {"pads": [1, 1, 1, 1]},
        ),
        "MaxUnpool": Sample(
            {"X": normal(1, side, 40, 40), "I": pooled_places(side, 40, 40)},
            {"kernel_shape": [2, 2], "strides": [2, 2]},
        ),
        "CenterCropPad": Sample(
            {"input_data": normal(*features), "shape": constant([56 // part, 72 // part])},
            {"axes": [2, 3]},
        ),
        "RoiAlign": Sample(
            {
                "X": normal(*features),
                "rois": regions(100 // part, 1024.0 / part),
                "batch_indices": integers(1, 100 // part),
            },
            {"output_height": 7, "output_width": 7, "sampling_ratio": 2, "spatial_scale": 0.0625},
        ),
    }


def _indexing(part: int) -> dict[str, Sample]:
    """Return the calls of operators of indexing, sorting and signals."""
    side, rows = 64 // part, 4096 // part
    return {
        "TopK": Sample({"X": normal(1, 8400 // part), "K": constant([300 // part])}),
        "ScatterElements": Sample(
            {
                "data": normal(256 // part, 1024),
                "indices": permutations(256 // part, 1024),
                "updates": normal(256 // part, 1024),
            },
            {"axis": 1},
        ),
        "ScatterND": Sample(
            {
                "data": normal(rows, 256),
                "indices": lambda random: random.permutation(rows)[: rows // 4, None],
                "updates": normal(rows // 4, 256),
            }
        ),
        "GatherND": Sample({"data": normal(rows, 256), "indices": integers(rows, rows // 4, 1)}),
        "TensorScatter": Sample(
            {
                "past_cache": normal(1, 12, 512 // part, 64),
                "update": normal(1, 12, 1, 64),
                "write_indices": constant([100]),
            }
        ),
        "Hardmax": Sample({"input": normal(rows, 256)}),
        "CumSum": Sample({"x": normal(side, 512, 64), "axis": constant(1)}),
        "Trilu": Sample({"input": normal(12, 512 // part, 512 // part)}, {"upper": 0}),
        "OneHot": Sample(
            {
                "indices": integers(1000, 512 // part),
                "depth": constant([1000]),
                "values": constant([0, 1], np.float32),
            }
        ),
        "Compress": Sample({"input": normal(rows, 256), "condition": booleans(rows)}, {"axis": 0}),
        "NonMaxSuppression": Sample(
            {
                "boxes": boxes(8400 // part),
                "scores": uniform(0.0, 1.0, 1, 1, 8400 // part),
                "max_output_boxes_per_class": constant([300]),
                "iou_threshold": constant([0.5], np.float32),
                "score_threshold": constant([0.25], np.float32),
            }
        ),
        "DFT": Sample({"input": normal(1, 128 // part, 512, 1), "axis": constant(2)}),
        "STFT": Sample(
            {
                "signal": normal(1, 16000 // part, 1),
                "frame_step": constant(160),
                "window": lambda _: np.hanning(400).astype(np.float32),
            }
        ),
        "Einsum": Sample(
            {
                "Input_0": normal(1, 12, 128 // part, 64),
                "Input_1": normal(1, 12, 128 // part, 64),
            },
            {"equation": "bhqd,bhkd->bhqk"},
        ),
        "Attention": Sample({name: normal(1, 12, 1024 // part, 64) for name in "QKV"}),
    }


def reductions(shape: tuple[int, ...], axes: list[int]) -> dict[str, Sample]:
    """Return the calls of reductions of a tensor along axes."""
    return {
        name: Sample({"data": uniform(0.5, 1.5, *shape), "axes": constant(axes)})
        for name in _REDUCTIONS
    }


def _normalizations(part: int) -> dict[str, Sample]:
    """Return the calls of reductions, normalizations and small matrices."""
    rows = 4096 // part
    features = (1, 256 // part, 64 // part, 64 // part)
    hidden = (1, 128 // part, 768)
    image = {"scale": normal(features[1]), "bias": normal(features[1])}
    return {
        **reductions(features, [2, 3]),
        "LpPool": Sample({"X": normal(*features)}, {"kernel_shape": [3, 3], "strides": [2, 2]}),
        "GlobalLpPool": Sample({"X": normal(*features)}),
        "GroupNormalization": Sample({"X": normal(*features), **image}, {"num_groups": 32}),
        "InstanceNormalization": Sample(
            {"input": normal(*features), "scale": normal(features[1]), "B": normal(features[1])}
        ),
        "LayerNormalization": Sample(
            {"X": normal(*hidden), "Scale": normal(768), "B": normal(768)}
        ),
        "RMSNormalization": Sample({"X": normal(*hidden), "scale": normal(768)}),
        "RotaryEmbedding": Sample(
            {
                "X": normal(1, 12, 128 // part, 64),
                "cos_cache": uniform(-1.0, 1.0, 1, 128 // part, 32),
                "sin_cache": uniform(-1.0, 1.0, 1, 128 // part, 32),
            }
        ),
        "MeanVarianceNormalization": Sample({"X": normal(*features)}),
        "Det": Sample({"X": normal(rows, 3, 3)}),
    }


def _sequences(part: int) -> dict[str, Sample]:
    """Return the calls of recurrences along time."""
    side, length, heads = 64 // part, 512 // part, 16 // part
    rows = (1, length, heads * 64)
    return {
        "RNN": Sample(
            {
                "X": normal(64, 1, 256 // part),
                "W": uniform(-0.1, 0.1, 1, 256 // part, 256 // part),
                "R": uniform(-0.1, 0.1, 1, 256 // part, 256 // part),
                "B": normal(1, 512 // part),
            },
            {"hidden_size": 256 // part},
        ),
        "CumProd": Sample({"x": uniform(0.9, 1.1, side, 512, 64), "axis": constant(1)}),
        "LinearAttention": Sample(
            {
                "query": normal(*rows),
                "key": uniform(-0.125, 0.125, *rows),
                "value": normal(*rows),
                "decay": uniform(-1.0, 0.0, 1, length, heads),
                "beta": uniform(0.0, 1.0, 1, length, heads),
            },
            {"q_num_heads": heads, "kv_num_heads": heads},
        ),
        "CausalConvWithState": Sample(
            {
                "input": normal(1, 1536 // part, length),
                "weight": normal(1536 // part, 1, 4),
                "bias": normal(1536 // part),
            },
            {"activation": "silu"},
        ),
    }


def _quantized(part: int) -> dict[str, Sample]:
    """Return the calls of operators of quantized numbers: layers of an encoder and of ResNet."""
    rows, hidden = 128 // part, 768 // part
    matrices = {"a": whole(np.uint8, rows, hidden), "b": weights(hidden, hidden)}
    image = {
        "x": whole(np.uint8, 1, 64 // part, 56 // part, 56 // part),
        "w": weights(64 // part, 64 // part, 3, 3),
    }
    zeros = {"a_zero_point": constant([131], np.uint8), "b_zero_point": constant([0], np.int8)}
    return {
        "MatMulInteger": Sample({"A": matrices["a"], "B": matrices["b"], **zeros}),
        "QLinearMatMul": Sample(
            {
                **matrices,
                **zeros,
                "a_scale": constant(0.01, np.float32),
                "b_scale": constant(0.02, np.float32),
                "y_scale": constant(0.1, np.float32),
                "y_zero_point": constant(128, np.uint8),
            }
        ),
        "DynamicQuantizeLinear": Sample({"x": normal(1, rows, hidden)}),
        "ConvInteger": Sample(
            {**image, "x_zero_point": zeros["a_zero_point"], "w_zero_point": zeros["b_zero_point"]},
            {"pads": [1, 1, 1, 1]},
        ),
        "QLinearConv": Sample(
            {
                **image,
                "x_scale": constant(0.01, np.float32),
                "x_zero_point": constant(131, np.uint8),
                "w_scale": constant(0.02, np.float32),
                "w_zero_point": constant(0, np.int8),
                "y_scale": constant(0.1, np.float32),
                "y_zero_point": constant(128, np.uint8),
            },
            {"pads": [1, 1, 1, 1]},
        ),
        "QuantizeLinear": Sample(
            {
                "x": normal(1, rows, hidden),
                "y_scale": constant(0.02, np.float32),
                "y_zero_point": constant(128, np.uint8),
            }
        ),
        "DequantizeLinear": Sample(
            {
                "x": whole(np.uint8, 1, rows, hidden),
                "x_scale": constant(0.02, np.float32),
                "x_zero_point": constant(128, np.uint8),
            }
        ),
    }


def _samples(part: int) -> dict[str, Sample]:
    """Return operator of ONNX -> a call; the names of repeated inputs end with an index.

    Args:
        part: divides the sizes that models vary; 1: those of detectors and text encoders.
    """
    features = (1, 256 // part, 64 // part, 64 // part)
    return (
        elementwise(features)
        | _sampling(part)
        | _indexing(part)
        | _normalizations(part)
        | _sequences(part)
        | _quantized(part)
    )


def _product(equation: str, one: tuple[int, ...], other: tuple[int, ...]) -> Sample:
    return Sample({"Input_0": normal(*one), "Input_1": normal(*other)}, {"equation": equation})


_HEADS, _WEIGHTS = (1, 12, 197, 64), (1, 12, 197, 197)
"""Queries, keys or values of an image encoder's attention; their weights."""
_OTHERS: dict[str, Sequence[Sample]] = {
    "Hardmax": [Sample({"input": normal(1, 21, 256, 256)}, {"axis": 1})],
    "TopK": [
        Sample({"X": normal(*shape), "K": constant([k])})
        for shape, k in [
            *(((100, 80), 1), ((100, 80), 5), ((1000, 10), 3), ((64, 64), 32)),
            *(((1, 6400), 1000), ((1, 20000), 100)),
        ]
    ],
    "Attention": [
        Sample({name: normal(*_HEADS) for name in "QKV"}),
        Sample(  # a language model's next word: groups of heads, and a cache
            {
                "Q": normal(1, 32, 1, 64),
                **{name: normal(1, 8, 1, 64) for name in "KV"},
                **{name: normal(1, 8, 1023, 64) for name in ("past_key", "past_value")},
            },
            {"is_causal": 1},
        ),
    ],
    "Einsum": [
        _product("bhqd,bhkd->bhqk", _HEADS, _HEADS),
        _product("bhqk,bhkd->bhqd", _WEIGHTS, _HEADS),
    ],
    "ScatterElements": [
        Sample(  # the sums of a network on a graph: more updates than rows
            {
                "data": normal(500, 64),
                "indices": integers(500, 4000, 64),
                "updates": normal(4000, 64),
            },
            {"reduction": "add"},
        )
    ],
}
"""Operator -> calls whose shapes take other ways through the math."""

CALLS: dict[str, Sequence[Sample]] = {
    name: [sample, small, *_OTHERS.get(name, ())]
    for (name, sample), small in zip(_samples(1).items(), _samples(4).values(), strict=True)
}
"""Operator of ONNX -> its calls: a large one, a small one, and others."""
