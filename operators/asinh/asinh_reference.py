"""Asinh in numpy: the reference for every kernel; the toolkits run it, too.

The inverse hyperbolic sine, computed in float64.

RKNN-Toolkit's own Python is 3.5 to 3.8: no f-strings, no annotations, and nothing but numpy and the
standard library.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; Asinh has none.
    """
    return {"output": tuple(input_shapes["input"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["input"]
    if x.dtype.kind != "f":
        raise ValueError("Asinh: input must be float16 or float32")
    with np.errstate(invalid="ignore"):
        return {"output": np.arcsinh(x.astype(np.float64)).astype(x.dtype)}
