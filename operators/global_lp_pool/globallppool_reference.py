"""GlobalLpPool in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The p-norm of each channel of each image, as in the ONNX specification of GlobalLpPool, in float64.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: p, an int.
    """
    shape = tuple(input_shapes["x"])
    if len(shape) < 3:
        raise ValueError(
            f"GlobalLpPool: x must be [N, C, D1, ...], with 3 dimensions or more, not {list(shape)}"
        )
    return {"y": shape[:2] + (1,) * (len(shape) - 2)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("GlobalLpPool: x and y must be float16 or float32")
    shape = output_shapes({"x": x.shape}, params)["y"]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        powers = np.abs(x.astype(np.float64)) ** params["p"]
        sums = np.sum(powers, axis=tuple(range(2, x.ndim)))
        return {"y": (sums ** (1 / params["p"])).reshape(shape).astype(x.dtype)}
