"""ScatterND in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Data with elements or slices replaced or changed by updates, as in the ONNX specification of
ScatterND. Where that is open: updates are applied in their order, each rounded to float32; the
minimum or maximum with a NaN is NaN, as in numpy; integers overflow as integers of their size do.
"""

import numpy as np

REDUCTIONS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: reduction, a string.
    """
    shape = tuple(input_shapes["data"])
    indices, updates = tuple(input_shapes["indices"]), tuple(input_shapes["updates"])
    if not 1 <= indices[-1] <= len(shape):
        raise ValueError(
            "ScatterND: the last dimension of indices must be 1 to the rank of data, "
            f"not {indices[-1]}"
        )
    # A single update of a single element: updates without dimensions are [1].
    if updates != (indices[:-1] + shape[indices[-1] :] or (1,)):
        raise ValueError(
            "ScatterND: updates must be [..., and the rest of data's dimensions], as indices and "
            "data"
        )
    if params["reduction"] not in ("none", *REDUCTIONS):
        raise ValueError(
            "ScatterND: reduction must be none, add, mul, min or max, not {!r}".format(
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
            "ScatterND: updates and output must be of the type of data, and indices int64"
        )
    if data.dtype == bool and params["reduction"] != "none":
        raise ValueError("ScatterND: bool has no reductions")
    lengths = np.array(data.shape[: indices.shape[-1]])
    if np.any(indices < -lengths) or np.any(indices >= lengths):
        raise ValueError("ScatterND: indices must be within data: from -length to length - 1")
    places = tuple(np.moveaxis(indices % lengths, -1, 0))
    output = data.copy()
    updates = updates.reshape(indices.shape[:-1] + data.shape[indices.shape[-1] :])
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if params["reduction"] == "none":
            output[places] = updates
        else:
            REDUCTIONS[params["reduction"]].at(output, places, updates)
    return {"output": output}
