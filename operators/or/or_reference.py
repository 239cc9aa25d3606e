"""Or in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too."""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output, to which the inputs broadcast.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; Or has none.
    """
    arrays = [np.broadcast_to(False, input_shapes[name]) for name in ("a", "b")]
    return {"c": np.broadcast(*arrays).shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array.
    params: as above.
    """
    a, b = inputs["a"], inputs["b"]
    if (a.dtype, b.dtype) != (np.bool_, np.bool_):
        raise ValueError("Or: a and b must be bool")
    return {"c": np.logical_or(a, b)}
