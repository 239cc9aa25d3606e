"""TopK in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The largest or smallest elements along an axis, as in the ONNX specification of TopK: of equal
elements, the one with the lower index is first. Where that is open: NaN is above infinity, as in
numpy's sort, and 0 equals -0.
"""

import numpy as np


def axis_of(shape, params):
    """Return the axis, from 0 on."""
    if not -len(shape) <= params["axis"] < len(shape):
        raise ValueError(
            "TopK: axis must be a dimension of x: from -rank to rank - 1, not {}".format(
                params["axis"]
            )
        )
    return params["axis"] % len(shape)


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: k and axis, ints; largest and sorted, 0 or 1.
    """
    shape = list(input_shapes["x"])
    axis = axis_of(shape, params)
    if not 1 <= params["k"] <= shape[axis]:
        problem = "TopK: k must be 1 or more, and at most the length of the axis, {}; not {}"
        raise ValueError(problem.format(shape[axis], params["k"]))
    for name in ("largest", "sorted"):
        if params[name] not in (0, 1):
            raise ValueError(f"TopK: {name} must be 0 or 1, not {params[name]}")
    shape[axis] = params["k"]
    return {"values": tuple(shape), "indices": tuple(shape)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype not in (np.float32, np.float64, np.int32, np.int64):
        raise ValueError("TopK: x must be float16, float32, int32 or int64")
    axis = axis_of(x.shape, params)
    rows = np.moveaxis(x, axis, -1)
    if params["largest"]:
        # Backward, so that a stable sort has the first of equal elements last.
        backward = np.argsort(rows[..., ::-1], axis=-1, kind="stable")
        order = x.shape[axis] - 1 - backward[..., ::-1]
    else:
        order = np.argsort(rows, axis=-1, kind="stable")
    indices = order[..., : params["k"]]
    values = np.take_along_axis(rows, indices, -1)
    return {
        "values": np.moveaxis(values, -1, axis),
        "indices": np.moveaxis(indices, -1, axis).astype(np.int64),
    }
