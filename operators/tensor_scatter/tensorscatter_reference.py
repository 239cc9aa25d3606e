"""TensorScatter in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

A cache with an update at a place of each batch, as in the ONNX specification of TensorScatter.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: mode, a text; axis, an int.
    """
    names = ("past_cache", "update", "write_indices")
    cache, update, indices = (tuple(input_shapes[name]) for name in names)
    axis = params["axis"] + (len(cache) if params["axis"] < 0 else 0)
    if not 1 <= axis < len(cache):
        raise ValueError(
            "TensorScatter: axis must be a dimension of past_cache behind the first one"
        )
    others = [(each[:axis], each[axis + 1 :]) for each in (cache, update)]
    if others[0] != others[1] or update[axis] > cache[axis]:
        raise ValueError(
            "TensorScatter: update must have the shape of past_cache, but along axis it may be "
            "shorter"
        )
    if indices != cache[:1]:
        raise ValueError("TensorScatter: write_indices must be [N], one for each batch")
    return {"present_cache": cache}


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    cache, update, indices = (inputs[name] for name in ("past_cache", "update", "write_indices"))
    if update.dtype != cache.dtype:
        raise ValueError(
            "TensorScatter: update must be of the type of past_cache, and write_indices int64"
        )
    length, count = cache.shape[params["axis"]], update.shape[params["axis"]]
    is_beyond = params["mode"] == "linear" and np.any(indices > length - count)
    if np.any(indices < 0) or is_beyond:
        raise ValueError(
            "TensorScatter: write_indices must not be negative, and updates must end within the "
            "cache"
        )
    present = cache.copy()
    for batch, index in enumerate(indices):
        rows = np.moveaxis(present, params["axis"], 1)[batch]
        if count > 0:
            rows[(index + np.arange(count)) % length] = np.moveaxis(update, params["axis"], 1)[
                batch
            ]
    return {"present_cache": present}
