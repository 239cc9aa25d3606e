"""Softsign in numpy: the reference for every kernel; the toolkits run it, too.

x / (1 + |x|), computed in float64; NaN for infinities, as the formula of ONNX's specification says.

RKNN-Toolkit's own Python is 3.5 to 3.8: no f-strings, no annotations, and nothing but numpy and the
standard library.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; Softsign has none.
    """
    return {"output": tuple(input_shapes["input"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["input"]
    if x.dtype.kind != "f":
        raise ValueError("Softsign: input must be float16 or float32")
    with np.errstate(invalid="ignore"):
        wide = x.astype(np.float64)
        return {"output": (wide / (1 + np.abs(wide))).astype(x.dtype)}
