"""BitShift in numpy: the reference for every kernel.

The bits of x, shifted by y, as in the ONNX specification of BitShift since opset 28, which has
signed integers, too: to the right, copies of the sign bit follow. A shift by a negative count, or
by all bits, leaves 0, or copies of the sign bit.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output, to which the inputs broadcast.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: direction, LEFT or RIGHT.
    """
    arrays = [np.broadcast_to(0, input_shapes[name]) for name in ("x", "y")]
    return {"z": np.broadcast(*arrays).shape}


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array.
    params: as above.
    """
    x, y = inputs["x"], inputs["y"]
    if x.dtype.kind not in "iu":
        raise ValueError("BitShift: x and y must be integers")
    if x.dtype != y.dtype:
        raise ValueError("BitShift: x, y and z must be of one type")
    bits = 8 * x.dtype.itemsize
    shift = y.astype(np.int64)
    is_valid = (shift >= 0) & (shift < bits)
    counts = np.where(is_valid, shift, 0).astype(x.dtype)
    if params["direction"] == "LEFT":
        return {"z": np.where(is_valid, np.left_shift(x, counts), 0).astype(x.dtype)}
    filled = np.where(x < 0, -1, 0)
    return {"z": np.where(is_valid, np.right_shift(x, counts), filled).astype(x.dtype)}
