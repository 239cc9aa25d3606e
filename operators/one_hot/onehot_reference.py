"""OneHot in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

A row for each index, as in the ONNX specification of OneHot: an index out of range is off
everywhere, a float loses its fraction. Where that is open: NaN is off everywhere.
"""

import numpy as np

MAX_RANK = 6  # of tensors


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: depth and axis, ints.
    """
    shape = list(input_shapes["indices"])
    rank = len(shape) + 1
    if tuple(input_shapes["values"]) != (2,):
        raise ValueError("OneHot: values must have 2 elements: off and on")
    if params["depth"] < 1:
        raise ValueError("OneHot: depth must be 1 or more, not {}".format(params["depth"]))
    if not -rank <= params["axis"] < rank:
        raise ValueError(
            "OneHot: axis must be a dimension of output: from -rank to rank - 1, not {}".format(
                params["axis"]
            )
        )
    if rank > MAX_RANK:
        raise ValueError("OneHot: indices must have at most 5 dimensions")
    shape.insert(params["axis"] % rank, params["depth"])
    return {"output": tuple(shape)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    indices, (off, on) = inputs["indices"], inputs["values"]
    if indices.dtype not in (np.float32, np.float64, np.int32, np.int64):
        raise ValueError("OneHot: indices must be float16, float32, int32 or int64")
    if inputs["values"].dtype not in (np.float32, np.float64, np.int32, np.int64):
        raise ValueError(
            "OneHot: values must be float16, float32, int32 or int64, and output of their type"
        )
    depth = params["depth"]
    whole = np.trunc(indices) if indices.dtype.kind == "f" else indices
    valid = (whole >= -depth) & (whole < depth)
    places = np.where(valid, whole, 0).astype(np.int64) % depth
    is_on = valid[..., np.newaxis] & (places[..., np.newaxis] == np.arange(depth))
    output = np.where(is_on, on, off)
    return {"output": np.moveaxis(output, -1, params["axis"] % output.ndim)}
