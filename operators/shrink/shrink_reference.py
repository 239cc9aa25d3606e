"""Shrink in numpy: the reference for every kernel; the toolkits run it, too.

x + bias below -lambd, x - bias above lambd, else 0, as in the ONNX specification of Shrink; 0 for
NaN, as in onnxruntime. The math is in float32, and rounded once.

RKNN-Toolkit's own Python is 3.5 to 3.8: no f-strings, no annotations, and nothing but numpy and the
standard library.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: lambd and bias, floats.
    """
    return {"output": tuple(input_shapes["input"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["input"]
    if x.dtype.kind != "f":
        raise ValueError("Shrink: input must be float16 or float32")
    lambd, bias = np.float32(params["lambd"]), np.float32(params["bias"])  # float32 in a model
    with np.errstate(over="ignore", invalid="ignore"):
        upper = np.where(x > lambd, x - bias, 0)
        return {"output": np.where(x < -lambd, x + bias, upper).astype(x.dtype)}
