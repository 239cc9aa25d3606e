"""DynamicQuantizeLinear in numpy: the reference for every kernel.

Floats as numbers of uint8, as in the ONNX specification of DynamicQuantizeLinear: the steps are
those that the range of x and 0 needs. All is float32, as in onnxruntime; numbers are rounded half
to even, and saturate. Where the specification is open:

* The step of zeros alone is 1.
* NaN is not part of the range, and becomes 0.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; DynamicQuantizeLinear has none.
    """
    return {"y": tuple(input_shapes["x"]), "y_scale": (1,), "y_zero_point": (1,)}


def rounded_within(x, low, high):
    """Return x as whole numbers within two limits; NaN is the lower one."""
    return np.rint(np.where(x > low, np.where(x < high, x, high), low))


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if inputs["x"].dtype.kind != "f":
        raise ValueError("DynamicQuantizeLinear: x must be float16 or float32")
    x = inputs["x"].astype(np.float32)
    low = np.fmin.reduce(x, axis=None, initial=np.float32(0))
    high = np.fmax.reduce(x, axis=None, initial=np.float32(0))
    with np.errstate(all="ignore"):
        scale = (high - low) / np.float32(255) if high != low else np.float32(1)
        zero = rounded_within(-low / scale, np.float32(0), np.float32(255))
        y = rounded_within(x / scale, -zero, np.float32(255) - zero) + zero
    return {
        "y": y.astype(np.uint8),
        "y_scale": np.array([scale], np.float32),
        "y_zero_point": np.array([zero], np.uint8),
    }
