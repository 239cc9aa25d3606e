"""ThresholdedRelu in numpy: the reference for every kernel; the toolkits run it, too.

x for x > alpha, else 0, as in the ONNX specification of ThresholdedRelu; 0 for NaN, as in
onnxruntime.

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
        raise ValueError("ThresholdedRelu: x must be float16 or float32")
    alpha = np.float32(params["alpha"])  # float32 in a model
    with np.errstate(invalid="ignore"):
        return {"y": np.where(x > alpha, x, np.zeros_like(x))}
