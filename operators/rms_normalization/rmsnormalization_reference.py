"""RMSNormalization in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Root mean square 1 along the last dimensions, then a scale, as in the ONNX specification of
RMSNormalization, in float64.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: axis and stash_type, ints; epsilon, a float.
    """
    shape, scale = tuple(input_shapes["x"]), tuple(input_shapes["scale"])
    rank = len(shape)
    if params["stash_type"] != 1:
        raise ValueError(
            "RMSNormalization: stash_type must be 1: the math is in float32; "
            f"not {params['stash_type']}"
        )
    if not -rank <= params["axis"] < rank:
        raise ValueError(
            "RMSNormalization: axis must be a dimension of x: from -rank to rank - 1, "
            f"not {params['axis']}"
        )
    axis = params["axis"] % rank
    if (1,) * (rank - len(scale)) + scale != (1,) * axis + shape[axis:]:
        raise ValueError(
            "RMSNormalization: scale must have the dimensions of x from axis on; it is not "
            f"broadcast; not {list(scale)}"
        )
    return {"y": shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, scale = inputs["x"], inputs["scale"]
    if x.dtype.kind != "f" or scale.dtype.kind != "f":
        raise ValueError("RMSNormalization: x, scale and y must be float16 or float32")
    output_shapes({"x": x.shape, "scale": scale.shape}, params)
    axes = tuple(range(params["axis"] % x.ndim, x.ndim))
    with np.errstate(over="ignore", invalid="ignore"):
        count = max(1, np.prod([x.shape[axis] for axis in axes]))
        mean = np.sum(np.square(x, dtype=np.float64), axis=axes, keepdims=True) / count
        y = x / np.sqrt(mean + np.float32(params["epsilon"])) * scale
        return {"y": y.astype(x.dtype)}
