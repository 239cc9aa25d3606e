"""Normalizations: a LayerNormalization of rows, which converters make a single node of the NPU."""

from __future__ import annotations

from math import prod

import numpy as np

from rknn_op.models.rewriting.form import Builder, Value, axis_of, form, sizes

_LAYER_NORMALIZATION = 17
"""The first opset that has it."""
_EPSILON = 1e-9
"""Of MeanVarianceNormalization, which adds it to the root of the variance."""
_OF_ONNXRUNTIME = 1e-4
"""Its own error: it subtracts the square of the mean from the mean of the squares."""


def _normalized(op: Builder, rows: Value, epsilon: float) -> Value:
    """Return a matrix, or several, with normalized rows."""
    length, dtype = sizes(rows)[-1], rows.dtype.numpy()
    if op.opset < _LAYER_NORMALIZATION:
        channel = op.Reshape(rows, [-1, 1, length])
        one = np.ones(1, dtype)
        result = op.InstanceNormalization(channel, one, np.zeros_like(one), epsilon=epsilon)
        return op.Reshape(result, [*sizes(rows)])
    ones = np.ones(length, dtype)
    return op.LayerNormalization(rows, ones, np.zeros_like(ones), axis=-1, epsilon=epsilon)


@form("LayerNormalization", first=True)
def normalized_rows(
    op: Builder, x: Value, scale: Value, bias: Value | None = None, *, axis: int, epsilon: float
) -> Value:
    """LayerNormalization along the last axis, Mul, Add."""
    shape = sizes(x)
    length = prod(shape[axis_of(axis, len(shape)) :])
    result = op.Reshape(_normalized(op, op.Reshape(x, [-1, length]), epsilon), [*shape])
    result = op.Mul(result, scale)
    return result if bias is None else op.Add(result, bias)


@form("RMSNormalization")
def normalized_with_negative(
    op: Builder, x: Value, scale: Value, *, axis: int, epsilon: float
) -> Value:
    """LayerNormalization of numbers and their negatives, whose mean is 0, Mul."""
    shape = sizes(x)
    length = prod(shape[axis_of(axis, len(shape)) :])
    rows = op.Reshape(x, [-1, length])
    both = _normalized(op, op.Concat(rows, op.Neg(rows), axis=1), epsilon)
    return op.Mul(op.Reshape(op.Slice(both, [0], [length], [1]), [*shape]), scale)


@form("GroupNormalization", first=True, error=_OF_ONNXRUNTIME)
def normalized_groups(
    op: Builder, x: Value, scale: Value, bias: Value, *, num_groups: int, epsilon: float
) -> Value:
    """LayerNormalization of each group's numbers, Mul, Add."""
    shape = sizes(x)
    result = _of_groups(op, x, num_groups, epsilon)
    # Until opset 20, a scale and a bias are those of a group.
    repeated = shape[1] // sizes(scale)[0]
    per_channel = [1, -1, *[1] * (len(shape) - 2)]

    def of_channel(value: Value) -> Value:
        if repeated > 1:
            value = op.Expand(op.Reshape(value, [-1, 1]), [num_groups, repeated])
        return op.Reshape(value, per_channel)

    return op.Add(op.Mul(result, of_channel(scale)), of_channel(bias))


@form("InstanceNormalization")
def normalized_channels(
    op: Builder, x: Value, scale: Value, bias: Value, *, epsilon: float
) -> Value:
    """LayerNormalization of each channel's numbers, Mul, Add."""
    shape = sizes(x)
    per_channel = [1, -1, *[1] * (len(shape) - 2)]
    result = op.Mul(_of_groups(op, x, shape[1], epsilon), op.Reshape(scale, per_channel))
    return op.Add(result, op.Reshape(bias, per_channel))


def _of_groups(op: Builder, x: Value, count: int, epsilon: float) -> Value:
    """Return a tensor with the numbers of each group of channels normalized."""
    shape = sizes(x)
    rows = op.Reshape(x, [shape[0], count, prod(shape[1:]) // count])
    return op.Reshape(_normalized(op, rows, epsilon), [*shape])


@form("MeanVarianceNormalization", first=True, error=_OF_ONNXRUNTIME)
def normalized_axes(op: Builder, x: Value, *, axes: list[int]) -> Value:
    """Transpose, LayerNormalization, Transpose."""
    shape = sizes(x)
    chosen = sorted(axis_of(axis, len(shape)) for axis in axes)
    order = [*(axis for axis in range(len(shape)) if axis not in chosen), *chosen]
    moved = op.Transpose(x, perm=order)
    rows = op.Reshape(moved, [-1, prod(shape[axis] for axis in chosen)])
    result = op.Reshape(_normalized(op, rows, _EPSILON), [shape[axis] for axis in order])
    return op.Transpose(result, perm=[*np.argsort(order).tolist()])
