"""Inverse in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The inverses of square matrices, as Inverse of onnxruntime (domain com.microsoft), in float64. The
inverse of a singular matrix, or of one that is not finite, is NaN in all elements; onnxruntime
divides by 0 there, and its result depends on the order of its steps. Rounding may hide that a
matrix is singular: so the steps here are those of the C, which find equal rows and columns.
"""

import numpy as np

MAX_SIZE = 32


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: an empty dict.
    """
    shape = tuple(input_shapes["x"])
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(f"Inverse: x must be square matrices, [..., M, M], not {list(shape)}")
    if shape[-1] > MAX_SIZE:
        raise ValueError(f"Inverse: x must be matrices of up to {MAX_SIZE} rows, not {shape[-1]}")
    return {"y": shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("Inverse: x and y must be float16 or float32")
    output_shapes({"x": x.shape}, params)
    y = np.full_like(x, np.nan)
    with np.errstate(over="ignore", under="ignore"):
        for place in np.ndindex(x.shape[:-2]):
            if np.isfinite(x[place]).all():
                y[place] = inverse(x[place].astype(np.float64))
    return {"y": y}


def inverse(matrix):
    """Return the inverse of a matrix, by Gauss-Jordan elimination with partial pivoting."""
    size = len(matrix)
    work = np.concatenate([matrix, np.eye(size)], axis=1)
    for column in range(size):
        pivot = column + np.argmax(np.abs(work[column:, column]))
        work[[column, pivot]] = work[[pivot, column]]
        if work[column, column] == 0:
            return np.nan
        work[column] /= work[column, column]
        others = np.arange(size) != column
        work[others] -= work[others, column, np.newaxis] * work[column]
    return work[:, size:]
