"""A node of a real model's size for each operator of sums, normalizations and transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.models.rewriting.node_tests import Case, case

_RANDOM = np.random.default_rng(0)


def _normal(*shape: int) -> Any:
    return _RANDOM.normal(size=shape).astype(np.float32)


def _integers(*values: int) -> Any:
    return np.array(values, np.int64)


_FEATURES = _normal(1, 32, 40, 40)
_TOKENS = _normal(1, 64, 192)
_LAST = _integers(-1)
_SPACE = _integers(2, 3)

EXAMPLES: dict[str, Case] = {
    "Sum": case("Sum", [_FEATURES, _normal(1, 32, 40, 40), _normal(1, 32, 1, 1)]),
    "Mean": case("Mean", [_FEATURES, _normal(1, 32, 40, 40), _normal(1, 32, 40, 40)]),
    "ReduceSum": case("ReduceSum", [_TOKENS, _integers(1)], keepdims=0),
    "ReduceMean": case("ReduceMean", [_FEATURES, _integers(1)]),
    "ReduceMax": case("ReduceMax", [_FEATURES, _integers(1)]),
    "ReduceMin": case("ReduceMin", [_FEATURES, _SPACE], keepdims=0),
    "ReduceProd": case("ReduceProd", [_RANDOM.uniform(0.5, 1, (1, 100, 21)).astype("f"), _LAST]),
    "ReduceL1": case("ReduceL1", [_TOKENS, _LAST]),
    "ReduceL2": case("ReduceL2", [30 * _TOKENS, _LAST]),
    "ReduceSumSquare": case("ReduceSumSquare", [_FEATURES, _integers(1)]),
    "ReduceLogSum": case("ReduceLogSum", [abs(100 * _FEATURES), _SPACE]),
    "ReduceLogSumExp": case("ReduceLogSumExp", [10 * _TOKENS, _LAST], keepdims=0),
    "LpPool": case("LpPool", [_FEATURES], kernel_shape=[2, 2], strides=[2, 2], p=2),
    "GlobalLpPool": case("GlobalLpPool", [abs(_FEATURES)], p=3),
    "LayerNormalization": case("LayerNormalization", [_TOKENS, _normal(192), _normal(192)]),
    "RMSNormalization": case("RMSNormalization", [_TOKENS, _normal(192)], 23, epsilon=1e-6),
    "GroupNormalization": case(
        "GroupNormalization", [_FEATURES, _normal(8), _normal(8)], num_groups=8
    ),
    "InstanceNormalization": case(
        "InstanceNormalization", [2 * _FEATURES + 1, _normal(32), _normal(32)]
    ),
    "MeanVarianceNormalization": case("MeanVarianceNormalization", [_FEATURES], 13),
    "CumSum": case("CumSum", [_RANDOM.integers(0, 2, (1, 80, 80)).astype("f"), np.array(1)]),
    "Trilu": case("Trilu", [_normal(1, 8, 77, 77)], upper=0),
    "DFT": case("DFT", [_normal(1, 64, 256, 1)], axis=2, onesided=1),
    "STFT": case("STFT", [_normal(1, 16000, 1), np.array(160), None, np.array(400)]),
    "Col2Im": case(
        "Col2Im",
        [_normal(1, 16 * 9, 400), _integers(40, 40), _integers(3, 3)],
        strides=[2, 2],
        pads=[1, 1, 1, 1],
    ),
    "Einsum": case(
        "Einsum", [_normal(1, 100, 64), _normal(1, 64, 40, 40)], equation="bqc,bchw->bqhw"
    ),
    "RotaryEmbedding": case(
        "RotaryEmbedding", [_normal(1, 8, 64, 64), _normal(1, 64, 32), _normal(1, 64, 32)], 23
    ),
    "Det": case("Det", [_normal(100, 3, 3)]),
}
"""Operator -> the node."""
