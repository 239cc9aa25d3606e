"""Linear transforms with constant weights: MatMul and convolutions."""

from __future__ import annotations

from math import prod

import numpy as np

from rknn_op.models.rewriting.form import (
    Array,
    Builder,
    Value,
    axis_of,
    check_weights,
    constant,
    form,
    sizes,
)

_FLOAT = 1  # onnx.TensorProto.FLOAT
_OF_ONNXRUNTIME = 1e-3
"""Its own error, if a length is no power of 2."""


def _along(op: Builder, x: Value, axis: int, matrix: Array) -> Value:
    """Return the products of a tensor's rows along an axis with a matrix."""
    matrix = matrix.astype(x.dtype.numpy())
    last = len(sizes(x)) - 1
    if axis == last:
        return op.MatMul(x, matrix)
    order = [*range(last + 1)]
    order[axis], order[last] = last, axis
    return op.Transpose(op.MatMul(op.Transpose(x, perm=order), matrix), perm=order)


@form("CumSum")
def product_with_triangle(
    op: Builder, x: Value, axis: Value, *, exclusive: int, reverse: int
) -> Value:
    """MatMul with a constant triangle of ones."""
    shape = sizes(x)
    along = axis_of(int(constant(axis).item()), len(shape))
    length = shape[along]
    check_weights(length * length)
    triangle = np.tri(length, k=-1 if exclusive else 0)
    triangle = triangle if reverse else triangle.T
    if x.dtype.is_floating_point():
        return _along(op, x, along, triangle)
    return op.Cast(_along(op, op.Cast(x, to=_FLOAT), along, triangle), to=x.dtype)


@form("Trilu")
def chosen_by_triangle(op: Builder, x: Value, k: Value | None = None, *, upper: int) -> Value:
    """Where with a constant triangle."""
    return op.Where(_triangle(x, k, upper), x, np.zeros(1, x.dtype.numpy()))


@form("Trilu")
def masked_by_triangle(op: Builder, x: Value, k: Value | None = None, *, upper: int) -> Value:
    """Mul with a constant triangle of ones."""
    return op.Mul(x, _triangle(x, k, upper).astype(x.dtype.numpy()))


def _triangle(x: Value, k: Value | None, upper: int) -> Array:
    rows, columns = sizes(x)[-2:]
    check_weights(rows * columns)
    diagonal = 0 if k is None else int(constant(k).item())
    ones = np.ones((rows, columns), np.bool_)
    return np.triu(ones, diagonal) if upper else np.tril(ones, diagonal)


@form("DFT", error=_OF_ONNXRUNTIME)
def product_with_circle(
    op: Builder,
    x: Value,
    dft_length: Value | None = None,
    given: Value | None = None,
    *,
    axis: int | None,
    inverse: int,
    onesided: int,
) -> Value:
    """MatMul with a constant matrix of cosines and sines."""
    shape = sizes(x)
    last, parts = len(shape) - 1, shape[-1]
    along = axis_of(_integer(given, -2 if axis is None else axis), last + 1)
    count, is_half = shape[along], bool(inverse and onesided)
    length = _integer(dft_length, 2 * count - 2 if is_half else count)
    if is_half:
        matrix = _inverse_of_half(count, length)
    else:
        bins = length // 2 + 1 if onesided else length
        matrix = _fourier(count, length, bins, parts, bool(inverse))
    order = [*(each for each in range(last) if each != along), along, last]
    rows = op.Reshape(op.Transpose(x, perm=order), [-1, count * parts])
    weights = matrix.reshape(count * parts, -1).astype(x.dtype.numpy())
    result = [shape[each] for each in order[:-2]] + [*matrix.shape[2:]]
    product = op.Reshape(op.MatMul(rows, weights), result)
    return op.Transpose(product, perm=[*np.argsort(order).tolist()])


def _integer(value: Value | None, default: int) -> int:
    return default if value is None else int(constant(value).item())


def _angles(rows: int, columns: int, length: int) -> Array:
    return 2 * np.pi / length * (np.outer(np.arange(rows), np.arange(columns)) % length)


def _fourier(count: int, length: int, bins: int, parts: int, is_inverse: bool = False) -> Array:
    """Return the matrix of a Fourier transform.

    Returns:
        [count, parts, bins, 2]: the weight of each part of an input in each part of an output.
        Inputs behind the length have none.
    """
    check_weights(count * parts * bins * 2)
    angles = _angles(count, bins, length)
    real, imaginary = np.cos(angles), np.sin(angles) * (1 if is_inverse else -1)
    rows = [np.stack([real, imaginary], -1), np.stack([-imaginary, real], -1)][:parts]
    matrix = np.stack(rows, 1) / (length if is_inverse else 1)
    matrix[length:] = 0
    return matrix


def _inverse_of_half(count: int, length: int) -> Array:
    """Return the matrix from half a spectrum to the signal: [count, 2, length, 1]."""
    check_weights(count * 2 * length)
    angles = _angles(count, length, length)
    matrix = np.stack([np.cos(angles), -np.sin(angles)], 1)[..., None] / length
    number = np.arange(count)
    matrix[(number > 0) & (2 * number < length)] *= 2  # their conjugates are the other half
    matrix[2 * number > length] = 0
    return matrix


@form("STFT", error=_OF_ONNXRUNTIME)
def convolution_with_circle(
    op: Builder,
    signal: Value,
    frame_step: Value,
    window: Value | None = None,
    frame_length: Value | None = None,
    *,
    onesided: int,
) -> Value:
    """Conv of the signal in rows as long as a step, with constant cosines and sines."""
    batch, count, parts = sizes(signal)
    weighted = None if window is None else constant(window)
    step = _integer(frame_step, 1)
    length = _integer(frame_length, count if weighted is None else weighted.size)
    bins = length // 2 + 1 if onesided else length
    taps = -(-length // step)
    check_weights(taps * step * parts * bins * 2)
    matrix = np.zeros((taps * step, parts, bins, 2))
    matrix[:length] = _fourier(length, length, bins, parts)
    if weighted is not None:
        matrix[:length] *= weighted.reshape(-1, 1, 1, 1)
    matrix = matrix.reshape(taps, step * parts, bins * 2).transpose(2, 1, 0)[:, :, None]

    frames = (count - length) // step + 1
    rows = frames + taps - 1
    if rows * step > count:
        signal = op.Pad(signal, [0, 0, 0, 0, rows * step - count, 0])
    elif rows * step < count:
        signal = op.Slice(signal, [0], [rows * step], [1])
    image = op.Transpose(op.Reshape(signal, [batch, 1, rows, step * parts]), perm=[0, 3, 1, 2])
    spectrum = op.Conv(image, matrix.astype(signal.dtype.numpy()))
    return op.Reshape(op.Transpose(spectrum, perm=[0, 2, 3, 1]), [batch, frames, bins, 2])


@form("Col2Im")
def transposed_convolution(
    op: Builder,
    columns: Value,
    image_shape: Value,
    block_shape: Value,
    *,
    dilations: list[int] | None,
    pads: list[int] | None,
    strides: list[int] | None,
) -> Value:
    """ConvTranspose with constant weights of 0 and 1, each channel alone."""
    image, block = constant(image_shape).tolist(), constant(block_shape).tolist()
    batch, depth, _ = sizes(columns)
    elements, ones = prod(block), [1] * len(block)
    channels = depth // elements
    dilations, strides = dilations or ones, strides or ones
    pads = pads or [0] * (2 * len(block))
    spans = [
        size + before + after - dilation * (side - 1) - 1
        for size, before, after, dilation, side in zip(
            image, pads, pads[len(block) :], dilations, block, strict=False
        )
    ]
    weights = np.eye(elements, dtype=columns.dtype.numpy()).reshape(elements, 1, *block)
    counts = [span // stride + 1 for span, stride in zip(spans, strides, strict=True)]
    return op.ConvTranspose(
        op.Reshape(columns, [batch, depth, *counts]),
        np.tile(weights, (channels, 1, *ones)),
        group=channels,
        dilations=dilations,
        pads=pads,
        strides=strides,
        output_padding=[span % stride for span, stride in zip(spans, strides, strict=True)],
    )
