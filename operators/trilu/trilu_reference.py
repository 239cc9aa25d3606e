"""Trilu in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The upper or lower triangle of matrices, as in the ONNX specification of Trilu.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: k, an int; upper, 0 or 1.
    """
    shape = tuple(input_shapes["input"])
    if len(shape) < 2:
        raise ValueError(f"Trilu: input must have 2 or more dimensions, not {len(shape)}")
    if params["upper"] not in (0, 1):
        raise ValueError("Trilu: upper must be 0 or 1, not {}".format(params["upper"]))
    return {"output": shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    matrices = inputs["input"]
    rows, columns = np.indices(matrices.shape[-2:])
    place = columns - rows
    kept = place >= params["k"] if params["upper"] else place <= params["k"]
    return {"output": np.where(kept, matrices, np.zeros_like(matrices))}
