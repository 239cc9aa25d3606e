"""Reciprocal in numpy: the reference for every kernel; the toolkits run it, too.

1 / x, rounded once; infinite at zeros, with their sign.

RKNN-Toolkit's own Python is 3.5 to 3.8: no f-strings, no annotations, and nothing but numpy and the
standard library.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; Reciprocal has none.
    """
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("Reciprocal: x must be float16 or float32")
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        return {"y": 1 / x}
