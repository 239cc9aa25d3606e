"""CenterCropPad in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The center of a tensor, cropped or with 0 around it, as in the ONNX specification of CenterCropPad:
of an odd number of elements, the larger part is cropped or added at the end.
"""

import numpy as np

ALL_AXES = [-(2**31)]


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: shape and axes, lists of ints.
    """
    shape = list(input_shapes["input_data"])
    rank = len(shape)
    axes = list(params["axes"])
    if axes == ALL_AXES:
        axes = list(range(rank))
    if len(params["shape"]) != len(axes):
        raise ValueError("CenterCropPad: shape must have an item for each axis")
    if not all(-rank <= axis < rank for axis in axes) or len({a % rank for a in axes}) < len(axes):
        raise ValueError(
            "CenterCropPad: axes must be different dimensions of input_data: from -rank to rank - 1"
        )
    if min(params["shape"]) < 1:
        raise ValueError("CenterCropPad: shape must be above 0")
    for i, axis in enumerate(axes):
        shape[axis] = params["shape"][i]
    return {"output_data": tuple(shape)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    data = inputs["input_data"]
    shape = output_shapes({"input_data": data.shape}, params)["output_data"]
    output = np.zeros(shape, data.dtype)
    from_, to = [], []
    for i, size in enumerate(shape):
        count = min(size, data.shape[i])
        from_.append(slice((data.shape[i] - count) // 2, (data.shape[i] - count) // 2 + count))
        to.append(slice((size - count) // 2, (size - count) // 2 + count))
    output[tuple(to)] = data[tuple(from_)]
    return {"output_data": output}
