"""Not in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too."""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; Not has none.
    """
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype != np.bool_:
        raise ValueError("Not: x must be bool")
    return {"y": np.logical_not(x)}
