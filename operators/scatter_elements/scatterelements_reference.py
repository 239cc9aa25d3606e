"""ScatterElements in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Data with elements replaced or changed by updates, as in the ONNX specification of ScatterElements.
Where that is open: updates are applied in their order, each rounded to float32; the minimum or
maximum with a NaN is NaN, as in numpy; integers overflow as integers of their size do.
"""

import numpy as np

REDUCTIONS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: axis, an int; reduction, a string.
    """
    shape = tuple(input_shapes["data"])
    indices, updates = tuple(input_shapes["indices"]), tuple(input_shapes["updates"])
    if not -len(shape) <= params["axis"] < len(shape):
        raise ValueError(
            "ScatterElements: axis must be a dimension of data: from -rank to rank - 1, "
            "not {}".format(params["axis"])
        )
    if len(indices) != len(shape) or len(updates) != len(shape):
        raise ValueError(
            "ScatterElements: data, indices, updates and output must have the same rank"
        )
    axis = params["axis"] % len(shape)
    if indices != updates or any(indices[i] > shape[i] for i in range(len(shape)) if i != axis):
        raise ValueError(
            "ScatterElements: indices and updates must be of one shape, larger than data at most "
            "along axis"
        )
    if params["reduction"] not in ("none", *REDUCTIONS):
        raise ValueError(
            "ScatterElements: reduction must be none, add, mul, min or max, not {!r}".format(
                params["reduction"]
            )
        )
    return {"output": shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    data, indices, updates = inputs["data"], inputs["indices"], inputs["updates"]
    if data.dtype != updates.dtype:
        raise ValueError(
            "ScatterElements: updates and output must be of the type of data, and indices int64"
        )
    if data.dtype == bool and params["reduction"] != "none":
        raise ValueError("ScatterElements: bool has no reductions")
    axis = params["axis"] % data.ndim
    length = data.shape[axis]
    if indices.size and not -length <= indices.min() <= indices.max() < length:
        raise ValueError(
            "ScatterElements: indices must be within the axis: from -length to length - 1"
        )
    places = list(np.indices(indices.shape))
    places[axis] = indices % length
    output = data.copy()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if params["reduction"] == "none":
            output[tuple(places)] = updates
        else:
            REDUCTIONS[params["reduction"]].at(output, tuple(places), updates)
    return {"output": output}
