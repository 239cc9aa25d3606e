"""CastLike in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The elements of a tensor in the type of another one, as in the ONNX specification of CastLike.
Floats lose their fraction, integers that are too large their upper bits. Where the specification is
open: floats beyond the range of integers saturate, and NaN is 0.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: saturate, an int; round_mode, a text.
    """
    return {"output": tuple(input_shapes["input"])}


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, dtype = inputs["input"], inputs["target_type"].dtype
    if dtype.kind != "f" and dtype not in (np.int32, np.int64):
        raise ValueError("CastLike: target_type must be float16, float32, int32 or int64")
    if dtype.kind == "f" or x.dtype.kind != "f":
        return {"output": x.astype(dtype)}
    limits = np.iinfo(dtype)
    whole = np.trunc(np.nan_to_num(x.astype(np.float64)))
    is_low, is_high = whole <= float(limits.min), whole >= float(limits.max)
    within = np.where(is_low | is_high, 0, whole).astype(dtype)
    return {"output": np.where(is_low, limits.min, np.where(is_high, limits.max, within))}
