"""CumProd in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The running products along an axis, as in the ONNX specification of CumProd. Products of floats are
in float64, and rounded once: onnxruntime, which multiplies float32, differs after many elements,
and where a product leaves the range of float32 and comes back. Products of integers overflow as
integers of their size do.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: axis, an int; exclusive and reverse, 0 or 1.
    """
    shape = tuple(input_shapes["x"])
    if not -len(shape) <= params["axis"] < len(shape):
        raise ValueError(
            "CumProd: axis must be {} to {}, not {}".format(
                -len(shape), len(shape) - 1, params["axis"]
            )
        )
    return {"y": shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f" and x.dtype not in (np.int32, np.uint32, np.int64):
        raise ValueError("CumProd: x must be float16, float32, int32, uint32 or int64")
    rows = np.moveaxis(x, params["axis"], -1)
    if params["reverse"]:
        rows = rows[..., ::-1]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        y = np.cumprod(rows, axis=-1, dtype=np.float64 if x.dtype.kind == "f" else x.dtype)
        if params["exclusive"]:
            y = np.concatenate([np.ones_like(y[..., :1]), y[..., :-1]], axis=-1)
        if params["reverse"]:
            y = y[..., ::-1]
        return {"y": np.moveaxis(y, -1, params["axis"]).astype(x.dtype)}
