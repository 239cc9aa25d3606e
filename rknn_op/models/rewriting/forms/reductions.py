"""Sums, reductions and pools of powers.

Squares, powers and their sums end at 65,504 in float16: a mean stands in place of a sum before a
root or logarithm, and a form that divides by the largest number is behind the one that does not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import log, prod

import numpy as np

from rknn_op.models.rewriting.form import (
    Builder,
    ConditionError,
    Value,
    axis_of,
    check_weights,
    constant,
    count,
    form,
    sizes,
)

_FLOAT = 1  # onnx.TensorProto.FLOAT
_OF_INTEGERS = ("ReduceMax", "ReduceMin")
_SMALLEST = 2.0**-14
"""The smallest normal number of float16, in place of a divisor of 0."""

_Function = Callable[[Builder, Value, list[int], str], Value]


def _reduction(*op_types: str, first: bool = False) -> Callable[[_Function], Callable[..., Value]]:
    """Make a function a form of reductions; it gets axes, and keeps them with a size of 1."""

    def decorate(function: _Function) -> Callable[..., Value]:
        def reduction(
            op: Builder,
            data: Value,
            given: Value | None = None,
            *,
            axes: list[int] | None,
            keepdims: int,
            noop_with_empty_axes: int | None,
            op_type: str,
        ) -> Value:
            shape = sizes(data)
            if not count(data):
                raise ConditionError(f"{data.name} is empty")
            if not (op_type in _OF_INTEGERS or data.dtype.is_floating_point()):
                raise ConditionError(f"{data.name} is {data.dtype.numpy()} (expected floats)")
            chosen = axes or ([] if given is None else constant(given).tolist())
            if not chosen and noop_with_empty_axes:
                # Each number is a sum of its own.
                data, chosen = op.Reshape(data, [*shape, 1]), [len(shape)]
                return op.Reshape(function(op, data, chosen, op_type), [*shape])
            chosen = sorted(axis_of(axis, len(shape)) for axis in chosen) or [*range(len(shape))]
            result = function(op, data, chosen, op_type)
            if keepdims:
                return result
            return op.Reshape(result, [size for a, size in enumerate(shape) if a not in chosen])

        reduction.__name__, reduction.__doc__ = function.__name__, function.__doc__
        return form(*op_types, first=first)(reduction)

    return decorate


def _length(x: Value, axes: list[int]) -> int:
    return prod(sizes(x)[axis] for axis in axes)


def _last(op: Builder, x: Value, axes: list[int]) -> Value:
    """Return a tensor with some axes moved behind the others."""
    others = [axis for axis in range(len(sizes(x))) if axis not in axes]
    return op.Transpose(x, perm=[*others, *axes])


def _kept(x: Value, axes: list[int]) -> list[int]:
    return [1 if axis in axes else size for axis, size in enumerate(sizes(x))]


# ---- Sums ----------------------------------------------------------------------------------------


@form("Sum", "Mean")
def sum_of_inputs(op: Builder, *inputs: Value, op_type: str) -> Value:
    """Add; Mean multiplies the sum by a constant."""
    total = reduce(op.Add, inputs)
    return op.Identity(total) if op_type == "Sum" else op.Mul(total, 1 / len(inputs))


@_reduction("ReduceSum", "ReduceMean")
def product_with_column(op: Builder, x: Value, axes: list[int], op_type: str) -> Value:
    """MatMul with a constant column of equal numbers."""
    length = _length(x, axes)
    check_weights(length)
    weight = 1.0 if op_type == "ReduceSum" else 1 / length
    column = np.full((length, 1), weight, x.dtype.numpy())
    rows = op.Reshape(_last(op, x, axes), [-1, length])
    return op.Reshape(op.MatMul(rows, column), _kept(x, axes))


@_reduction("ReduceL1")
def sum_of_magnitudes(op: Builder, x: Value, axes: list[int], op_type: str) -> Value:
    """ReduceSum of Abs."""
    return op.ReduceSum(op.Abs(x), axes=axes)


@_reduction("ReduceSumSquare")
def sum_of_squares(op: Builder, x: Value, axes: list[int], op_type: str) -> Value:
    """ReduceSum of squares."""
    return op.ReduceSum(op.Mul(x, x), axes=axes)


@_reduction("ReduceL2", first=True)
def root_of_mean(op: Builder, x: Value, axes: list[int], op_type: str) -> Value:
    """Root of ReduceMean of squares, times that of their number."""
    return _root_of_mean(op, x, axes)


@_reduction("ReduceL2")
def root_of_scaled(op: Builder, x: Value, axes: list[int], op_type: str) -> Value:
    """Root of ReduceMean of squares, of numbers divided by the largest one."""
    scaled, largest = _scaled(op, op.Abs(x))
    return op.Mul(_root_of_mean(op, scaled, axes), largest)


def _root_of_mean(op: Builder, x: Value, axes: list[int]) -> Value:
    mean = op.ReduceMean(op.Mul(x, x), axes=axes)
    return op.Mul(op.Pow(mean, 0.5), _length(x, axes) ** 0.5)


def _scaled(op: Builder, magnitudes: Value) -> tuple[Value, Value]:
    """Return numbers divided by the largest of all, and this one."""
    rank = len(sizes(magnitudes))
    largest = op.Max(op.ReduceMax(magnitudes, axes=[*range(rank)]), _SMALLEST)
    return op.Div(magnitudes, largest), op.Reshape(largest, [1])


@_reduction("ReduceLogSum", first=True)
def log_of_mean(op: Builder, x: Value, axes: list[int], op_type: str) -> Value:
    """Log of ReduceMean, plus that of the number of elements."""
    return op.Add(op.Log(op.ReduceMean(x, axes=axes)), log(_length(x, axes)))


@_reduction("ReduceLogSumExp", first=True)
def log_of_differences(op: Builder, x: Value, axes: list[int], op_type: str) -> Value:
    """Log of ReduceSum of Exp, of differences from the largest number, to which it is added."""
    largest = op.ReduceMax(x, axes=axes)
    return op.Add(op.Log(op.ReduceSum(op.Exp(op.Sub(x, largest)), axes=axes)), largest)


# ---- The largest, the smallest, the product ------------------------------------------------------


@_reduction("ReduceMax", "ReduceMin")
def largest_of_plane(op: Builder, x: Value, axes: list[int], op_type: str) -> Value:
    """GlobalMaxPool; ReduceMin is that of the negative numbers."""
    width = sizes(x)[axes[-1]]
    shape = [1, -1, _length(x, axes) // width, width]
    planes = op.Reshape(_last(op, op.Cast(x, to=_FLOAT), axes), shape)
    if op_type == "ReduceMin":
        largest = op.Neg(op.GlobalMaxPool(op.Neg(planes)))
    else:
        largest = op.GlobalMaxPool(planes)
    return op.Cast(op.Reshape(largest, _kept(x, axes)), to=x.dtype)


@_reduction("ReduceProd")
def product_of_halves(op: Builder, x: Value, axes: list[int], op_type: str) -> Value:
    """Mul of one half with the other, until a single number is left."""

    def part(start: int, end: int) -> Value:
        return op.Slice(x, [start], [end], [axis])

    for axis in axes:
        while (size := sizes(x)[axis]) > 1:
            half = size // 2
            product = op.Mul(part(0, half), part(half, 2 * half))
            x = op.Concat(product, part(size - 1, size), axis=axis) if size % 2 else product
    return op.Identity(x)


# ---- Pools of powers -----------------------------------------------------------------------------


def _power(op: Builder, magnitudes: Value, p: int) -> Value:
    return reduce(op.Mul, [magnitudes] * p)


def _root(op: Builder, mean: Value, p: int, elements: int) -> Value:
    """Return the root of the sum of powers."""
    root = mean if p == 1 else op.Pow(mean, 1 / p)
    return op.Mul(root, elements ** (1 / p))


@form("GlobalLpPool")
def mean_of_powers(op: Builder, x: Value, *, p: int) -> Value:
    """Root of GlobalAveragePool of powers."""
    elements = prod(sizes(x)[2:])
    return _root(op, op.GlobalAveragePool(_power(op, op.Abs(x), p)), p, elements)


@form("GlobalLpPool")
def mean_of_scaled_powers(op: Builder, x: Value, *, p: int) -> Value:
    """Root of GlobalAveragePool of powers, of numbers divided by the largest one."""
    scaled, largest = _scaled(op, op.Abs(x))
    return op.Mul(mean_of_powers(op, scaled, p=p), largest)


@form("LpPool")
def convolved_powers(
    op: Builder,
    x: Value,
    *,
    kernel_shape: list[int],
    p: int,
    auto_pad: str,
    dilations: list[int] | None,
    pads: list[int] | None,
    strides: list[int] | None,
) -> Value:
    """Root of a Conv of powers, each channel alone, with constant weights."""
    elements, channels = prod(kernel_shape), sizes(x)[1]
    weights = np.full((channels, 1, *kernel_shape), 1 / elements, x.dtype.numpy())
    window = {"auto_pad": auto_pad, "dilations": dilations, "pads": pads, "strides": strides}
    given = {name: value for name, value in window.items() if value is not None}
    mean = op.Conv(_power(op, op.Abs(x), p), weights, group=channels, **given)
    return _root(op, mean, p, elements)


@form("LpPool")
def convolved_scaled_powers(
    op: Builder,
    x: Value,
    *,
    kernel_shape: list[int],
    p: int,
    auto_pad: str,
    dilations: list[int] | None,
    pads: list[int] | None,
    strides: list[int] | None,
) -> Value:
    """Root of a Conv of powers, each channel alone, of numbers divided by the largest one."""
    scaled, largest = _scaled(op, op.Abs(x))
    result = convolved_powers(
        op,
        scaled,
        kernel_shape=kernel_shape,
        p=p,
        auto_pad=auto_pad,
        dilations=dilations,
        pads=pads,
        strides=strides,
    )
    return op.Mul(result, largest)
