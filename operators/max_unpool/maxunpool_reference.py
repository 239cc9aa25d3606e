"""MaxUnpool in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Zeros, but for the elements of x at their indices, as in the ONNX specification of MaxUnpool. Where
it is open: of equal indices, the last one counts; indices count in the output without output_shape,
whose images are the first rows and columns of larger ones, as in ONNX's tests.
"""

import numpy as np

NO_SHAPE = [0]


def repeated(items, count):
    """Return a list, or its only item for all dimensions."""
    return list(items) * count if len(items) == 1 else list(items)


def unpooled(shape, params):
    """Return the shape of the output without output_shape."""
    count = len(shape) - 2
    if not 1 <= count <= 3:
        raise ValueError("MaxUnpool: x must be [N, C, ...], with 1 to 3 dimensions behind C")
    kernel, strides = list(params["kernel_shape"]), repeated(params["strides"], count)
    pads = repeated(params["pads"], 2 * count)
    if (len(kernel), len(strides), len(pads)) != (count, count, 2 * count):
        raise ValueError(
            "MaxUnpool: kernel_shape and strides must have an item for each dimension, and pads two"
        )
    if min(kernel + strides) < 1 or min(pads) < 0:
        raise ValueError(
            "MaxUnpool: kernel_shape and strides must be above 0, and pads not negative"
        )
    image = [
        (size - 1) * strides[i] + kernel[i] - pads[i] - pads[count + i]
        for i, size in enumerate(shape[2:])
    ]
    if min(image) < 1:
        raise ValueError("MaxUnpool: pads must leave an image")
    return (*shape[:2], *image)


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: kernel_shape, strides, pads and output_shape, lists of
        ints.
    """
    x, i = tuple(input_shapes["x"]), tuple(input_shapes["i"])
    shape, given = unpooled(x, params), list(params["output_shape"])
    if i != x:
        raise ValueError(f"MaxUnpool: i must have the shape of x, not {i}")
    if given == NO_SHAPE:
        return {"output": shape}
    is_larger = len(given) == len(shape) and np.all(np.array(given) >= shape)
    if not is_larger or given[:2] != list(shape[:2]):
        raise ValueError(
            "MaxUnpool: output_shape must have the batches and channels of x, and at least the "
            f"sizes without it, {list(shape)}, not {given}"
        )
    return {"output": tuple(given)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, i = inputs["x"], inputs["i"]
    if x.dtype.kind != "f" or i.dtype.kind not in "iu":
        raise ValueError("MaxUnpool: x must be float16 or float32, and i int64")
    shapes = output_shapes({"x": x.shape, "i": i.shape}, params)
    image = np.zeros(unpooled(x.shape, params), x.dtype)
    if np.any((i < 0) | (i >= image.size)):
        raise ValueError(f"MaxUnpool: i must be from 0 to {image.size - 1}")
    image.reshape(-1)[i.ravel()] = x.ravel()
    output = np.zeros(shapes["output"], x.dtype)
    output[tuple(slice(size) for size in image.shape)] = image
    return {"output": output}
