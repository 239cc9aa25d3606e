"""Gelu in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

x (1 + erf(x / sqrt 2)) / 2, or by tanh with u = sqrt(2 / pi) (x + 0.044715 x^3), as in the ONNX
specification of Gelu. All of it is in float64: numpy has no erf, but Python has.
"""

import math

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: approximate, a text.
    """
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("Gelu: x must be float16 or float32")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        wide = x.astype(np.float64)
        if params["approximate"] == "tanh":
            curve = np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3))
        else:
            curve = np.vectorize(math.erf, otypes=[np.float64])(wide / math.sqrt(2))
        return {"y": (wide * (0.5 + 0.5 * curve)).astype(x.dtype)}
