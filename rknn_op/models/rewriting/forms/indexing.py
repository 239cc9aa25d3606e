"""Forms of the operators that take and put elements at indices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from rknn_op.models.rewriting.form import (
    Array,
    Builder,
    ConditionError,
    Value,
    axis_of,
    check_weights,
    constant,
    form,
    sizes,
)

_FLOAT, _INT64 = 1, 7
"""Of onnx.TensorProto."""
_MAX_INDEX = 2048
"""Larger integers are not exact in float16, if the chip computes them."""
_ROWS = 2
"""The axis of rows, of four."""
_MAX_REPEATS = 8
"""Of the nodes of a form."""
_INDEX_WEIGHT = 4
"""The size of a constant index, in elements of float16."""


def _nonnegative(index: Array, shape: Sequence[int]) -> Array:
    """Return constant tuples in the last axis, of which negative numbers count from the end."""
    index = np.where(index < 0, index + shape, index)
    if ((index < 0) | (index >= shape)).any():
        raise ConditionError("an index is out of range")
    return index


def _tuples(index: Array, shape: Sequence[int], axis: int) -> Array:
    """Return the places of elements, from their index in an axis."""
    places = np.indices(index.shape)
    places[axis_of(axis, len(shape))] = index
    return _nonnegative(np.moveaxis(places, 0, -1), shape)


def _line(tuples: Array, shape: Sequence[int]) -> tuple[int, Array] | None:
    """Return the axis and its index, if the places are all those of the other axes."""
    *grid, rank = tuples.shape
    if len(grid) != rank:
        return None
    places = np.indices(grid)
    partial = [
        axis
        for axis in range(rank)
        if grid[axis] != shape[axis] or not np.array_equal(tuples[..., axis], places[axis])
    ]
    axis = partial[0] if partial else 0
    index = np.moveaxis(tuples[..., axis], axis, 0).reshape(grid[axis], -1)
    is_line = len(partial) < 2 and index.size and (index == index[:, :1]).all()
    return (axis, index[:, 0]) if is_line else None


def _rows_of(shape: Sequence[int], axis: int) -> list[int]:
    """Return the shape of data as rows in the axis _ROWS.

    The toolkit makes a Gather in the first two axes a Conv, whose weights are rows x indices.
    """
    return [prod(shape[:axis]), 1, shape[axis], prod(shape[axis + 1 :])]


def _as_rows(tuples: Array, shape: Sequence[int]) -> tuple[list[int], Array]:
    """Return the shape of data as rows, and the index of places."""
    if line := _line(tuples, shape):
        return _rows_of(shape, line[0]), line[1]
    depth = tuples.shape[-1]
    index = np.ravel_multi_index(tuple(tuples.reshape(-1, depth).T), tuple(shape[:depth]))
    return [1, 1, prod(shape[:depth]), prod(shape[depth:])], index


def _gathered(op: Builder, data: Value, tuples: Array) -> Value:
    """Return the rows at constant places."""
    shape, index = _as_rows(tuples, sizes(data))
    check_weights(_INDEX_WEIGHT * len(index))
    rows = op.Gather(op.Reshape(data, shape), index, axis=_ROWS)
    return op.Reshape(rows, [*tuples.shape[:-1], *sizes(data)[tuples.shape[-1] :]])


@form("GatherND")
def gather_nd(op: Builder, data: Value, indices: Value, *, batch_dims: int) -> Value:
    """Gather at constant indices, of flat rows if not in one axis."""
    index = constant(indices)
    batches = np.moveaxis(np.indices(index.shape[:-1])[:batch_dims], 0, -1)
    index = np.concatenate([batches, index], axis=-1)
    return _gathered(op, data, _nonnegative(index, sizes(data)[: index.shape[-1]]))


@form("GatherElements")
def gather_elements(op: Builder, data: Value, indices: Value, *, axis: int) -> Value:
    """Gather at constant indices, of flat elements if not in one axis."""
    return _gathered(op, data, _tuples(constant(indices), sizes(data), axis))


@form("GatherND")
def gather_nd_of_computed(op: Builder, data: Value, indices: Value, *, batch_dims: int) -> Value:
    """Gather of the rows at flat indices, which a MatMul computes."""
    shape, (*places, width) = sizes(data), sizes(indices)
    depth = batch_dims + width
    if depth == 1:
        return op.Gather(data, op.Reshape(indices, places), axis=0)
    rows, ranges = prod(shape[:depth]), np.array(shape[batch_dims:depth], np.float32)
    if rows > _MAX_INDEX:
        raise ConditionError(
            f"{rows:,} rows (expected at most {_MAX_INDEX:,}, or constant indices)"
        )
    index = _computed(op, indices, ranges)
    strides = np.cumprod([1, *ranges[:0:-1]], dtype=np.float32)[::-1]
    flat = op.Reshape(op.MatMul(index, strides.reshape(width, 1)), places)
    if batch_dims:
        starts = np.arange(0, rows, prod(shape[batch_dims:depth]), dtype=np.float32)
        rest = [1] * (len(places) - batch_dims)
        flat = op.Add(flat, starts.reshape(*places[:batch_dims], *rest))
    data = op.Reshape(data, [rows, *shape[depth:]])
    return op.Gather(data, op.Cast(flat, to=_INT64), axis=0)


def _computed(op: Builder, index: Value, ranges: Array | float) -> Value:
    """Return computed indices as floats; negative ones count from the end."""
    index = op.Cast(index, to=_FLOAT)
    return op.Add(index, op.Mul(op.Clip(op.Neg(index), 0.0, 1.0), ranges))


_COMBINED: dict[str, tuple[str, float | None]] = {
    "none": ("", None),
    "add": ("Add", 0),
    "mul": ("Mul", 1),
    "max": ("Max", None),
    "min": ("Min", None),
}
"""Reduction -> its operator, and its neutral number: None of another one than data."""


def _scattered(
    op: Builder, data: Value, tuples: Array, updates: Value, reduction: str | None
) -> Value:
    """Return data with updates at constant places."""
    shape, index = _as_rows(tuples, sizes(data))
    outer, _, count, inner = shape
    many = len(index)
    rows, updates = op.Reshape(data, shape), op.Reshape(updates, [outer, 1, many, inner])
    combine, neutral = _COMBINED[reduction or "none"]
    layers: list[Array] = []
    for update, row in enumerate(index.tolist()):
        free = next((each for each in layers if each[row] >= many or not combine), None)
        if free is None:
            if len(layers) == _MAX_REPEATS:
                raise ConditionError(f"an element has more than {_MAX_REPEATS} updates")
            free = np.arange(many, many + count) if neutral is None else np.full(count, many)
            layers.append(free)
        free[row] = update
    check_weights(_INDEX_WEIGHT * len(layers) * count)
    for layer in layers:
        others = rows
        if neutral is not None:
            others = np.full([outer, 1, 1, inner], neutral, rows.dtype.numpy())
        chosen = op.Gather(op.Concat(updates, others, axis=_ROWS), layer, axis=_ROWS)
        rows = getattr(op, combine)(rows, chosen) if combine else chosen
    return op.Reshape(rows, [*sizes(data)])


@form("ScatterND")
def scatter_nd(
    op: Builder, data: Value, indices: Value, updates: Value, *, reduction: str | None
) -> Value:
    """Gather from data and updates at constant indices."""
    index = constant(indices)
    places = _nonnegative(index, sizes(data)[: index.shape[-1]])
    return _scattered(op, data, places, updates, reduction)


@form("ScatterElements")
def scatter_elements(
    op: Builder, data: Value, indices: Value, updates: Value, *, axis: int, reduction: str | None
) -> Value:
    """Gather from data and updates at constant indices."""
    places = _tuples(constant(indices), sizes(data), axis)
    return _scattered(op, data, places, updates, reduction)


@form("ScatterElements")
def scatter_elements_of_computed(
    op: Builder, data: Value, indices: Value, updates: Value, *, axis: int, reduction: str | None
) -> Value:
    """Where with the elements that have the index, one update of an axis after the other."""
    shape, places = sizes(data), sizes(indices)
    axis = axis_of(axis, len(shape))
    if places[axis] > _MAX_REPEATS:
        raise ConditionError(
            f"{places[axis]} updates of an axis (expected at most {_MAX_REPEATS}, or constant "
            "indices)"
        )
    if not np.array_equal(np.delete(places, axis), np.delete(shape, axis)):
        raise ConditionError("indices are smaller than data (expected constant indices)")
    combine, _ = _COMBINED[reduction or "none"]
    indices = op.Where(op.Less(indices, 0), op.Add(indices, shape[axis]), indices)
    numbers = _along(np.arange(shape[axis], dtype=indices.dtype.numpy()), axis, len(shape))
    for place in range(places[axis]):
        index, update = (
            op.Slice(each, [place], [place + 1], [axis]) for each in (indices, updates)
        )
        # the toolkit 2.5.0 crashes at a Where that expands a single element.
        chosen = getattr(op, combine)(data, update) if combine else op.Expand(update, [*shape])
        data = op.Where(op.Equal(index, numbers), chosen, data)
    return data


def _along(numbers: Array, axis: int, rank: int) -> Array:
    """Return a vector along an axis of tensors of a rank."""
    shape = [1] * rank
    shape[axis] = len(numbers)
    return numbers.reshape(shape)


@form("Compress")
def compress(op: Builder, x: Value, condition: Value, *, axis: int | None) -> Value:
    """Gather at constant indices."""
    shape = [*sizes(x)] if axis is not None else [prod(sizes(x))]
    axis = axis_of(axis or 0, len(shape))
    index = np.flatnonzero(constant(condition)[: shape[axis]])
    if not len(index):
        raise ConditionError("condition takes no element")
    check_weights(_INDEX_WEIGHT * len(index))
    taken = op.Gather(op.Reshape(x, _rows_of(shape, axis)), index, axis=_ROWS)
    shape[axis] = len(index)
    return op.Reshape(taken, shape)


@form("ReverseSequence")
def reverse_sequence(
    op: Builder, x: Value, sequence_lens: Value, *, batch_axis: int, time_axis: int
) -> Value:
    """Gather at constant indices, of flat rows if the lengths differ."""
    lengths, places = constant(sequence_lens), np.indices(sizes(x)[:2])
    times, ends = places[time_axis], lengths[places[batch_axis]]
    places[time_axis] = np.where(times < ends, ends - 1 - times, times)
    return _gathered(op, x, np.moveaxis(places, 0, -1))


@form("OneHot")
def one_hot(op: Builder, indices: Value, depth: Value, values: Value, *, axis: int) -> Value:
    """Differences from all indices, clipped to 0 and 1."""
    length, rank = int(constant(depth).item()), len(sizes(indices)) + 1
    if length > _MAX_INDEX:
        raise ConditionError(f"depth is {length:,} (expected at most {_MAX_INDEX:,})")
    index = _computed(op, op.Unsqueeze(op.Cast(indices, to=_INT64), axes=[axis]), float(length))
    numbers = _along(np.arange(length, dtype=np.float32), axis_of(axis, rank), rank)
    misses = op.Clip(op.Abs(op.Sub(index, numbers)), 0.0, 1.0)
    misses = op.Cast(misses, to=int(values.dtype))
    off, on = (op.Slice(values, [first], [first + 1], [0]) for first in (0, 1))
    return op.Add(on, op.Mul(misses, op.Sub(off, on)))


@form("CenterCropPad", first=True)
def center_crop_pad(op: Builder, x: Value, shape: Value, *, axes: list[int] | None) -> Value:
    """Slice and Pad."""
    given = np.array(sizes(x))
    wanted = given.copy()
    wanted[axes or range(len(given))] = constant(shape)
    crops, pads = np.maximum(given - wanted, 0), np.maximum(wanted - given, 0)
    if crops.any():
        starts = crops // 2
        x = op.Slice(x, starts, starts + np.minimum(given, wanted), np.arange(len(given)))
    if pads.any():
        x = op.Pad(x, np.concatenate([pads // 2, pads - pads // 2]))
    return x


@form("SpaceToDepth")
def space_to_depth(op: Builder, x: Value, *, blocksize: int, mode: str | None) -> Value:
    """Conv with a constant kernel of ones."""
    _, channels, *_ = sizes(x)
    made = channels * blocksize**2
    check_weights(made**2)
    ones = np.eye(made, dtype=np.float32)
    if mode == "CRD":
        kernel = ones.reshape(made, channels, blocksize, blocksize)
    else:
        kernel = ones.reshape(made, blocksize, blocksize, channels).transpose(0, 3, 1, 2)
    return op.Conv(x, kernel, strides=[blocksize, blocksize])


@form("TopK")
def top_k(op: Builder, x: Value, k: Value, *, axis: int, largest: int) -> tuple[Value, Value]:
    """ReduceMax and ArgMax for each of the numbers, without those before."""
    shape, many = sizes(x), int(constant(k).item())
    axis = axis_of(axis, len(shape))
    if many > _MAX_REPEATS:
        raise ConditionError(f"k is {many} (expected at most {_MAX_REPEATS})")
    if shape[axis] > _MAX_INDEX:
        raise ConditionError(
            f"axis {axis} has {shape[axis]:,} numbers (expected at most {_MAX_INDEX:,})"
        )
    if not x.dtype.is_floating_point():
        raise ConditionError(f"dtype is {x.dtype} (expected floats)")
    reduce, find = (op.ReduceMax, op.ArgMax) if largest else (op.ReduceMin, op.ArgMin)
    taken = float(np.finfo(np.float16).min if largest else np.finfo(np.float16).max)
    numbers = _along(np.arange(shape[axis]), axis, len(shape))
    values: list[Value] = []
    indices: list[Value] = []
    for _ in range(many):
        if indices:
            x = op.Where(op.Equal(indices[-1], numbers), taken, x)
        values.append(reduce(x, axes=[axis], keepdims=1))
        indices.append(find(x, axis=axis, keepdims=1))
    return op.Concat(*values, axis=axis), op.Concat(*indices, axis=axis)
