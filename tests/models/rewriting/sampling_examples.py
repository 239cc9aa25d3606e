"""A node of each operator that samples features, as models have it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.models.rewriting.node_tests import Case, case

_random = np.random.default_rng(40)


def _uniform(low: float, high: float, *shape: int) -> Any:
    return _random.uniform(low, high, shape).astype(np.float32)


def boxes(random: np.random.Generator, count: int, height: float, width: float) -> Any:
    """Return boxes in an image."""
    ends = np.sort(random.uniform(0, 1, (count, 2, 2)), axis=1) * (width, height)
    return ends.reshape(count, 4).astype(np.float32)


EXAMPLES: dict[str, Case] = {
    "AffineGrid": case(
        "AffineGrid",
        [_uniform(-1, 1, 4, 2, 3), np.array([4, 3, 64, 64])],
        opset=20,
        constants=[1],
    ),  # of a spatial transformer
    "GridSample": case(
        "GridSample",
        [_uniform(-2, 2, 8, 32, 40, 40), _uniform(-1.1, 1.1, 8, 300, 4, 2)],
        mode="bilinear",
    ),  # of a level of RT-DETR: 8 heads, 300 queries
    "RoiAlign": case(
        "RoiAlign",
        [_uniform(-2, 2, 1, 64, 50, 68), boxes(_random, 100, 800, 1088), np.zeros(100, np.int64)],
        spatial_scale=1 / 16,
        sampling_ratio=2,
        output_height=7,
        output_width=7,
        coordinate_transformation_mode="half_pixel",
    ),  # of Mask R-CNN
}
