"""Compress in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The slices along an axis that a condition selects, as in the ONNX specification of Compress.
"""

import numpy as np

NO_AXIS = -(2**31)  # elements are selected


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: condition, a list of 0 and 1; axis, an int.
    """
    shape = list(input_shapes["input"])
    if params["axis"] == NO_AXIS:
        shape = [int(np.prod(shape))]
    elif not -len(shape) <= params["axis"] < len(shape):
        raise ValueError(
            "Compress: axis must be a dimension of input: from -rank to rank - 1, not {}".format(
                params["axis"]
            )
        )
    axis = 0 if params["axis"] == NO_AXIS else params["axis"]
    if len(params["condition"]) > shape[axis]:
        raise ValueError("Compress: condition must not be longer than the axis")
    shape[axis] = int(np.count_nonzero(params["condition"]))
    if shape[axis] == 0:
        raise ValueError("Compress: condition must select a slice")
    return {"output": tuple(shape)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    axis = None if params["axis"] == NO_AXIS else params["axis"]
    return {"output": np.compress(np.array(params["condition"]) != 0, inputs["input"], axis)}
