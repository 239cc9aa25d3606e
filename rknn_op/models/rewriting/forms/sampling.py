"""Forms of the operators that sample features between pixels.

The weight of a pixel is a difference of two steps: Clip(coordinate - pixel, 0, 1), which grows from
0 to 1 behind a pixel. A Conv computes coordinate - pixel of all pixels of an axis at once. It adds
in float32, so that float16 rounds the small difference instead of the large coordinate.
"""

from __future__ import annotations

from math import prod

import numpy as np

from rknn_op.models.rewriting.form import (
    Array,
    Builder,
    ConditionError,
    Value,
    check_weights,
    constant,
    form,
    sizes,
)

_COORDINATE = 1e-4
"""Tolerated in float32, where the coordinates of the operator are rounded, too: 500 x 2**-23."""
_MAX_TENSOR = 64 * 2**20
"""Maximum bytes of a tensor in float16. The NPU writes and reads it in about 13 ms, as long as the
conversions of layout around a large custom operator take."""
_STEEP = 2.0**14
"""The slope of a step without a transition."""


def _check_tensor(elements: int) -> None:
    if 2 * elements > _MAX_TENSOR:
        raise ConditionError(
            f"makes a tensor of {2 * elements / 2**20:.0f} MB (expected at most "
            f"{_MAX_TENSOR // 2**20} MB)"
        )


def _weights(op: Builder, steps: Value, axis: int, start: int, size: int) -> Value:
    """Return the weights of pixels, from the steps behind the pixels -1 ... size - 1."""
    before, behind = (
        op.Slice(steps, [first], [first + size], [axis]) for first in (start, start + 1)
    )
    return op.Sub(before, behind)


@form("GridSample", error=_COORDINATE)
def grid_sample(
    op: Builder, x: Value, grid: Value, *, mode: str, padding_mode: str, align_corners: int
) -> Value:
    """MatMul with the weights of all pixels, which a Conv computes from the grid."""
    if mode not in ("linear", "bilinear", "nearest"):
        raise ConditionError(f"mode is {mode} (expected linear or nearest)")
    batch, channels, *space = sizes(x)
    _, *points, rank = sizes(grid)
    many, rows, columns = prod(points), prod(space[:-1]), space[-1]
    _check_tensor(batch * many * rows * min(channels, columns))

    at = op.Transpose(op.Reshape(grid, [batch, many, rank]), perm=[0, 2, 1])
    at = op.Reshape(at, [batch, rank, 1, many])
    is_odd = None
    if padding_mode == "reflection":
        flips = op.Floor(op.Mul(op.Add(at, 1.0), 0.5))
        is_odd = op.Sub(flips, op.Mul(op.Floor(op.Mul(flips, 0.5)), 2.0))
        at = op.Mul(op.Sub(at, op.Mul(flips, 2.0)), op.Sub(1.0, op.Mul(is_odd, 2.0)))

    counts = [size + 1 for size in space]
    pixels = np.concatenate([np.arange(-1, size, dtype=np.float32) for size in space])
    lengths = np.repeat(np.array(space, np.float32), counts)
    axes = np.repeat(np.eye(rank, dtype=np.float32)[::-1], counts, axis=0)  # a grid has x first
    slopes = axes * (lengths[:, None] - align_corners) / 2
    offsets = (lengths - 1) / 2 - pixels
    if mode == "nearest":
        offsets -= 0.5
    if padding_mode != "zeros":
        for edge, step in ((-1, 1), (lengths - 1, -1)):
            slopes[pixels == edge], offsets[pixels == edge] = 0, step
    steps = op.Conv(at, slopes[:, :, None, None], offsets)
    if mode == "nearest":  # ties go to even pixels, and are reflected afterwards
        ties: Array | Value = (pixels % 2).reshape(1, -1, 1, 1)
        if is_odd is not None and not align_corners:
            swaps = axes * (1 - 2 * (pixels % 2))[:, None]
            ties = op.Conv(is_odd, swaps[:, :, None, None], pixels % 2)
        steps = op.Add(op.Mul(op.Clip(steps, -1.0, 1.0), _STEEP), ties)
    steps = op.Clip(steps, 0.0, 1.0)
    starts = [sum(counts[:axis]) for axis in range(rank)]
    *others, weights = (
        _weights(op, steps, 1, start, size) for start, size in zip(starts, space, strict=True)
    )

    if channels >= columns:
        for each in reversed(others):
            weights = op.Mul(each, op.Reshape(weights, [batch, 1, -1, many]))
        weights = op.Reshape(weights, [batch, rows * columns, many])
        result = op.MatMul(op.Reshape(x, [batch, channels, rows * columns]), weights)
    else:
        weights = op.Reshape(weights, [batch, columns, many])
        result = op.MatMul(op.Reshape(x, [batch, channels * rows, columns]), weights)
        for each, size in zip(reversed(others), reversed(space[:-1]), strict=True):
            result = op.Reshape(result, [batch, -1, size, many])
            result = op.Mul(result, op.Reshape(each, [batch, 1, size, many]))
            result = op.ReduceSum(result, axes=[2], keepdims=0)
    return op.Reshape(result, [batch, channels, *points])


@form("RoiAlign", error=_COORDINATE)
def roi_align(
    op: Builder,
    x: Value,
    rois: Value,
    batch_indices: Value,
    *,
    mode: str,
    output_height: int,
    output_width: int,
    sampling_ratio: int,
    spatial_scale: float,
    coordinate_transformation_mode: str | None,
) -> Value:
    """Two MatMul with the weights of rows and columns, which a Conv computes from the boxes."""
    if mode != "avg":
        raise ConditionError(f"mode is {mode} (expected avg)")
    if sampling_ratio < 1:
        raise ConditionError("sampling_ratio is 0 (expected a fixed number)")
    batch, channels, *space = sizes(x)
    boxes, _ = sizes(rois)
    counts = [output_height, output_width]
    largest = max(output_height * channels * space[1], 0 if batch == 1 else prod(sizes(x)[1:]))
    steps_of = [
        count * sampling_ratio * (size + 1) for count, size in zip(counts, space, strict=True)
    ]
    _check_tensor(boxes * max(largest, sum(steps_of)))

    is_shifted = (coordinate_transformation_mode or "output_half_pixel") == "half_pixel"
    columns = op.Transpose(rois, perm=[1, 0])
    begin, end = (op.Slice(columns, [first], [first + 2], [0]) for first in (0, 2))
    corners = [begin, end]
    if not is_shifted:  # a box has at least one pixel
        corners.append(op.Relu(op.Sub(1 / spatial_scale, op.Sub(end, begin))))
    slopes, offsets = [], []
    for axis, (count, size) in enumerate(zip(counts, space, strict=True)):
        part = (np.arange(count * sampling_ratio) + 0.5) / (count * sampling_ratio)
        # The samples beyond the pixels -1 and size count as zeros, the others are clamped.
        steep = 2.0 ** (15 - size.bit_length())  # float16 has to hold its product with the size
        scale = np.ones(size + 1)
        scale[[0, -1]] = steep
        offset = -0.5 * is_shifted - np.arange(-1, size)
        offset[0], offset[-1] = steep * offset[0] + 1, steep * (offset[-1] - 1)
        slope = np.zeros((len(part), size + 1, 2 * len(corners)))
        for corner, share in enumerate([1 - part, part, part][: len(corners)]):
            slope[:, :, 2 * corner + 1 - axis] = spatial_scale * np.outer(share, scale)
        slopes.append(slope.reshape(-1, slope.shape[2]))
        offsets.append(np.tile(offset, len(part)))
    slope = np.concatenate(slopes)[:, :, None, None]
    high = slope.astype(np.float16).astype(np.float32)
    low = (slope - high).astype(np.float32)
    ends = op.Reshape(op.Concat(*corners, axis=0), [1, -1, boxes, 1])
    steps = op.Conv(ends, high, np.concatenate(offsets).astype(np.float32))
    # The toolkit would add the weights of two Conv, and round them, but for a Clip between them.
    steps = op.Clip(op.Add(op.Clip(steps, -64.0, 64.0), op.Conv(ends, low)), 0.0, 1.0)
    weights = []
    start = 0
    for count, size, length in zip(counts, space, steps_of, strict=True):
        each = op.Slice(steps, [start], [start + length], [1])
        each = op.Reshape(each, [count, sampling_ratio, size + 1, boxes])
        mean = op.ReduceMean(each, axes=[1], keepdims=0)
        weights.append(op.Transpose(_weights(op, mean, 1, 0, size), perm=[2, 0, 1]))
        start += length
    rows, columns = weights  # boxes, count, size
    if batch > 1:
        x = op.Gather(x, batch_indices, axis=0)
    else:
        rows = op.Reshape(rows, [1, -1, space[0]])
    x = op.Reshape(op.Transpose(x, perm=[0, 2, 1, 3]), [-1, space[0], channels * space[1]])
    result = op.Reshape(op.MatMul(rows, x), [boxes, -1, space[1]])
    result = op.MatMul(result, op.Transpose(columns, perm=[0, 2, 1]))
    result = op.Reshape(result, [boxes, output_height, channels, output_width])
    return op.Transpose(result, perm=[0, 2, 1, 3])


@form("AffineGrid", first=True)
def affine_grid(op: Builder, theta: Value, size: Value, *, align_corners: int) -> Value:
    """MatMul of the constant grid and theta."""
    batch, _, *space = (int(each) for each in constant(size))
    check_weights(prod(space) * (len(space) + 1))
    axes = []
    for length in space:
        ends = 1.0 if align_corners else 1 - 1 / length
        axes.append(np.linspace(-ends, ends, length, dtype=np.float32))
    grids = np.meshgrid(*axes, indexing="ij")[::-1]
    base = np.stack([*grids, np.ones(space, np.float32)], axis=-1)
    flat = base.reshape(prod(space), len(space) + 1)
    result = op.MatMul(flat, op.Transpose(theta, perm=[0, 2, 1]))
    return op.Reshape(result, [batch, *space, len(space)])
