"""IsNaN in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too."""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; IsNaN has none.
    """
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("IsNaN: x must be float16 or float32")
    return {"y": np.isnan(x)}
