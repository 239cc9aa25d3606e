"""Mish in numpy: the expected outputs for every kernel.

RKNN-Toolkit runs this file while it converts a model. Its own Python is 3.5 to 3.8: no f-strings,
no annotations, and nothing but numpy and the standard library.

RKNN-Toolkit2 runs this file while it converts a model.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output, that of the input.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; Mish has none.
    """
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"].astype(np.float64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        y = x * np.tanh(np.logaddexp(0, x))
        return {"y": y.astype(inputs["x"].dtype)}
