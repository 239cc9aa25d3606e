"""Col2Im in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Images from their blocks, which are added where they overlap, as in the ONNX specification of
Col2Im. The sums are float32, in the order of a block's elements.
"""

import numpy as np

MAX_DIMENSIONS = 4  # of the image


def repeated(items, count):
    """Return a list, or its only item for all dimensions."""
    return list(items) * count if len(items) == 1 else list(items)


def layout(params):
    """Return the size of the image, the block, dilations, strides, pads before, and the blocks."""
    image, block = list(params["image_shape"]), list(params["block_shape"])
    count = len(image)
    if not 1 <= count <= MAX_DIMENSIONS or len(block) != count:
        raise ValueError(
            "Col2Im: image_shape and block_shape must have the same count of items, 1 to 4"
        )
    dilations, strides = (repeated(params[name], count) for name in ("dilations", "strides"))
    pads = repeated(params["pads"], 2 * count)
    if (len(dilations), len(strides), len(pads)) != (count, count, 2 * count):
        raise ValueError(
            "Col2Im: dilations and strides must have an item for each dimension, and pads two"
        )
    if min(image + block + dilations + strides) < 1 or min(pads) < 0:
        raise ValueError(
            "Col2Im: shapes, dilations and strides must be above 0, and pads not negative"
        )
    blocks = []
    for i in range(count):
        room = image[i] + pads[i] + pads[count + i] - dilations[i] * (block[i] - 1) - 1
        if room < 0:
            raise ValueError("Col2Im: a block must fit into the image with its pads")
        blocks.append(room // strides[i] + 1)
    return image, block, dilations, strides, pads[:count], blocks


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: lists of ints.
    """
    image, block, _, _, _, blocks = layout(params)
    shape = tuple(input_shapes["input"])
    elements = int(np.prod(block))
    if len(shape) != 3 or shape[1] % elements or shape[2] != np.prod(blocks):
        raise ValueError("Col2Im: input must be [N, channels * elements of a block, blocks]")
    return {"output": (shape[0], shape[1] // elements, *image)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    columns = inputs["input"]
    if columns.dtype.kind != "f":
        raise ValueError("Col2Im: input and output must be float16 or float32")
    image, block, dilations, strides, pads, blocks = layout(params)
    output = np.zeros(output_shapes({"input": columns.shape}, params)["output"], columns.dtype)
    rows = columns.reshape((*output.shape[:2], int(np.prod(block)), *blocks))
    with np.errstate(over="ignore", invalid="ignore"):
        for element, place in enumerate(np.ndindex(*block)):
            from_, to = [], []
            for i, size in enumerate(image):
                pixels = place[i] * dilations[i] - pads[i] + strides[i] * np.arange(blocks[i])
                is_inside = (pixels >= 0) & (pixels < size)
                from_.append(np.flatnonzero(is_inside))
                to.append(pixels[is_inside])
            output[(..., *np.ix_(*to))] += rows[:, :, element][(..., *np.ix_(*from_))]
    return {"output": output}
