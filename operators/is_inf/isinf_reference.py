"""IsInf in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

True for infinities of the signs that detect_negative and detect_positive select, as in the ONNX
specification of IsInf.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: detect_negative and detect_positive, 0 or 1.
    """
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("IsInf: x must be float16 or float32")
    signs = [np.inf] if params["detect_positive"] else []
    signs += [-np.inf] if params["detect_negative"] else []
    return {"y": np.isin(x, signs)}
