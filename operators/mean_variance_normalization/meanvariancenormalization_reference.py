"""MeanVarianceNormalization in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Mean 0 and variance 1 along axes, as in the ONNX specification of MeanVarianceNormalization, in
float64: 1e-9 is added to the standard deviation.
"""

import numpy as np


def normalized_axes(shape, params):
    """Return the axes, from 0 on."""
    rank, axes = len(shape), list(params["axes"])
    if not all(-rank <= axis < rank for axis in axes) or len({a % rank for a in axes}) < len(axes):
        raise ValueError(
            "MeanVarianceNormalization: axes must be different dimensions, from -rank to rank - 1, "
            f"{-rank} to {rank - 1}, not {axes}"
        )
    return tuple(axis % rank for axis in axes)


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: axes, a list of ints.
    """
    normalized_axes(input_shapes["x"], params)
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("MeanVarianceNormalization: x and y must be float16 or float32")
    axes = normalized_axes(x.shape, params)
    if x.size == 0:
        return {"y": x.copy()}
    with np.errstate(over="ignore", invalid="ignore"):
        differences = x - np.mean(x, axis=axes, keepdims=True, dtype=np.float64)
        deviation = np.sqrt(np.mean(np.square(differences), axis=axes, keepdims=True))
        return {"y": (differences / (deviation + 1e-9)).astype(x.dtype)}
