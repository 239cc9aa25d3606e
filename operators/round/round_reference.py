"""Round in numpy: the reference for every kernel; the toolkits run it, too.

Rounds to the nearest integer, halfway cases to the even one. Exact: -0 for -0.5; infinities and NaN
stay.

RKNN-Toolkit's own Python is 3.5 to 3.8: no f-strings, no annotations, and nothing but numpy and the
standard library.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; Round has none.
    """
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("Round: x must be float16 or float32")
    return {"y": np.rint(x)}
