"""Celu in numpy: the reference for every kernel; the toolkits run it, too.

y = x for x > 0, else alpha * (e^(x / alpha) - 1), as in the ONNX specification of Celu. It is exact
near 0, where onnxruntime, which subtracts 1 from e^(x / alpha), loses digits.

RKNN-Toolkit's own Python is 3.5 to 3.8: no f-strings, no annotations, and nothing but numpy and the
standard library.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: alpha, a float.
    """
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("Celu: x must be float16 or float32")
    alpha = float(np.float32(params["alpha"]))  # float32 in a model
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        wide = x.astype(np.float64)
        curve = alpha * np.expm1(np.minimum(wide, 0) / alpha)
        return {"y": np.where(wide > 0, wide, curve).astype(x.dtype)}
