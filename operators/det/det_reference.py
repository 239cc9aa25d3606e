"""Det in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The determinants of square matrices, as in the ONNX specification of Det, in float64. With NaN in a
matrix it is NaN, where numpy's result depends on the order of LAPACK's steps.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: an empty dict.
    """
    shape = tuple(input_shapes["x"])
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(f"Det: x must be square matrices, [..., M, M], not {list(shape)}")
    return {"y": shape[:-2] or (1,)}  # a tensor without dimensions is [1]


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("Det: x and y must be float16 or float32")
    shape = output_shapes({"x": x.shape}, params)["y"]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = np.linalg.det(x.astype(np.float64))
        found = np.where(np.isnan(x).any(axis=(-2, -1)), np.nan, found)
        return {"y": np.asarray(found).astype(x.dtype).reshape(shape)}
