"""Mod in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The remainder of a / b, with the sign of b, or with fmod 1 of a, as in the ONNX specification of
Mod. Floats are taken with both values of fmod, as since opset 28. Remainders of floats are exact
in float64; the only rounding is that to the size of the tensors.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output, to which the inputs broadcast.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: fmod, 0 or 1.
    """
    if params["fmod"] not in (0, 1):
        raise ValueError("Mod: fmod must be 0 or 1, not {}".format(params["fmod"]))
    arrays = [np.broadcast_to(0, input_shapes[name]) for name in ("a", "b")]
    return {"c": np.broadcast(*arrays).shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    a, b = inputs["a"], inputs["b"]
    remainder = np.fmod if params["fmod"] else np.mod
    if a.dtype.kind == "f":
        with np.errstate(divide="ignore", invalid="ignore"):
            exact = remainder(a.astype(np.float64), b.astype(np.float64))
            return {"c": exact.astype(a.dtype)}
    if a.dtype not in (np.int32, np.int64):
        raise ValueError("Mod: a and b must be float16, float32, int32 or int64")
    if not b.all():
        raise ValueError("Mod: b must not have a 0 if the tensors are integers")
    return {"c": remainder(a, b)}
