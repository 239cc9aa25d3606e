"""A node of each operator with indices, as models have it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.models.rewriting.node_tests import Case, case

_random = np.random.default_rng(40)


def _uniform(*shape: int) -> Any:
    return _random.uniform(-2, 2, shape).astype(np.float32)


def _grid(*sizes: int) -> Any:
    """Return the places that `x[:n, :m] = y` writes."""
    return np.moveaxis(np.indices(sizes), 0, -1)


EXAMPLES: dict[str, Case] = {
    "CenterCropPad": case(
        "CenterCropPad",
        [_uniform(1, 3, 256, 200), np.array([224, 224])],
        constants=[1],
        axes=[2, 3],
    ),
    "Compress": case(
        "Compress", [_uniform(1, 400, 85), np.arange(400) % 4 == 0], constants=[1], axis=1
    ),
    "GatherElements": case(
        "GatherElements",
        [_uniform(4, 1, 400), _random.integers(-400, 400, (4, 1, 100))],
        constants=[1],
        axis=2,
    ),
    "GatherND": case(
        "GatherND", [_uniform(20, 20, 64), _random.integers(-20, 20, (100, 2))], constants=[1]
    ),
    "OneHot": case(
        "OneHot",
        [_random.integers(0, 80, (1, 100)), np.array(80), np.array([0, 1], np.float32)],
        constants=[1, 2],
    ),
    "ReverseSequence": case(
        "ReverseSequence", [_uniform(32, 4, 64), np.array([32, 20, 10, 5])], constants=[1]
    ),
    "ScatterElements": case(
        "ScatterElements",
        [_uniform(64, 8), _random.random((64, 8)).argsort()[:, :2], _uniform(64, 2)],
        axis=1,
    ),  # the gates of a mixture of experts
    "ScatterND": case(
        "ScatterND",
        [_uniform(1, 2100, 85), _grid(1, 2100, 2), _uniform(1, 2100, 2)],
        constants=[1],
    ),  # `boxes[..., :2] = centers` of YOLO
    "SpaceToDepth": case("SpaceToDepth", [_uniform(1, 3, 320, 320)], blocksize=2),  # YOLO's focus
    "TopK": case("TopK", [_uniform(64, 8), np.array([2])], outputs=2, constants=[1]),
}
