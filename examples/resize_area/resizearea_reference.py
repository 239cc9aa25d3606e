"""ResizeArea in numpy: what every kernel is compared with, and what RKNN-Toolkit runs.

Every output pixel is the mean of the source area that it covers. An output index covers, along one
axis, the half-open interval [index * scale, (index + 1) * scale) of the source; a source element
that is covered in part counts with the covered part. The arithmetic is float32 in TensorFlow's
order, so that the results equal those of TensorFlow's own kernel bit for bit.

The toolkit carries this file into its own Python, 3.5 to 3.8: no f-strings, no annotations, and
nothing but numpy and the standard library.
"""

import numpy as np

# How the images lie in memory: "NHWC", as in TensorFlow, or "NCHW". The kernel needs no such
# constant: it sees the shape of its output, and takes the layout that leads to it.
LAYOUT = "NHWC"


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: the name of each input -> its shape, slowest dimension first.
    params: the name of each param -> its value: size [height, width], align_corners bool.
    """
    shape = list(input_shapes["input"])
    if len(shape) != 4:
        raise ValueError("ResizeArea: input must have 4 dimensions, not " + str(len(shape)))
    rows = LAYOUT.index("H")
    shape[rows : rows + 2] = [int(length) for length in params["size"]]
    return {"output": tuple(shape)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: the name of each input -> its array; half-precision tensors arrive as float32.
    params: as above.
    """
    images = inputs["input"]
    height, width = params["size"]
    rows, columns = LAYOUT.index("H"), LAYOUT.index("W")
    y_scale = source_step(images.shape[rows], height, params["align_corners"])
    x_scale = source_step(images.shape[columns], width, params["align_corners"])
    with np.errstate(over="ignore", invalid="ignore"):
        sums = weighted_sums(images, columns, width, x_scale)
        sums = weighted_sums(sums, rows, height, y_scale)
        return {"output": sums * (np.float32(1) / (y_scale * x_scale))}


def source_step(source_length, length, align_corners):
    """Return how many source elements one step of the output covers, along one axis."""
    if align_corners and length > 1 and source_length > 1:
        return np.float32(source_length - 1) / np.float32(length - 1)
    return np.float32(source_length) / np.float32(length)


def weighted_sums(array, axis, length, scale):
    """Replace an axis by `length` weighted sums along it, each over `scale` source elements."""
    source = np.moveaxis(array, axis, 0)
    sums = np.zeros((length, *source.shape[1:]), np.float32)
    for index in range(length):
        begin, end = np.float32(index) * scale, np.float32(index + 1) * scale
        for cell in range(int(np.floor(begin)), int(np.ceil(end))):
            # With align_corners the last areas reach past the end: the last element stands there.
            element = source[min(cell, len(source) - 1)]
            sums[index] += element * covered(cell, begin, end, scale)
    return np.moveaxis(sums, 0, axis)


def covered(cell, begin, end, scale):
    """Return how much of the unit [cell, cell + 1) lies in [begin, end), which is `scale` long."""
    left, right = np.float32(cell), np.float32(cell + 1)
    if left < begin:
        return scale if right > end else right - begin
    return end - left if right > end else np.float32(1)
