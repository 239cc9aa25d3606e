"""Selu in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

y = gamma * x for x > 0, else gamma * alpha * (e^x - 1), as in the ONNX specification of Selu. It is
exact near 0, where onnxruntime, which subtracts alpha from alpha * e^x, loses digits.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: alpha and gamma, floats.
    """
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("Selu: x must be float16 or float32")
    # Params are float32 in a model. The math is in float64; expm1 is exact near 0, too.
    alpha, gamma = (float(np.float32(params[name])) for name in ("alpha", "gamma"))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        wide = x.astype(np.float64)
        y = gamma * np.where(wide > 0, wide, alpha * np.expm1(wide))
        return {"y": y.astype(x.dtype)}
