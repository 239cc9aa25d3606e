"""ResizeArea in numpy: the reference for every kernel; RKNN-Toolkit runs it, too.

Along an axis, an output index covers the source interval [index * scale, (index + 1) * scale); an
output pixel is the mean of its source area, bit for bit as in TensorFlow. RKNN-Toolkit's Python is
3.5 to 3.8: no f-strings, no annotations.
"""

import numpy as np

LAYOUT = "NHWC"  # or "NCHW"; the kernel infers it from the output's shape


def output_shapes(input_shapes, params):
    """Return the shapes of outputs by name. Shapes have the slowest dimension first."""
    shape = list(input_shapes["input"])
    if len(shape) != 4:
        raise ValueError("ResizeArea: input must have 4 dimensions")
    rows = LAYOUT.index("H")
    if 0 in shape[rows : rows + 2]:
        raise ValueError("ResizeArea: input must have elements")
    shape[rows : rows + 2] = params["size"]
    return {"output": tuple(shape)}


def reference(inputs, params):
    """Return the arrays of outputs by name. Half-precision inputs arrive as float32."""
    images = inputs["input"]
    if images.dtype.kind != "f":
        raise ValueError("ResizeArea: input and output must be float16 or float32")
    height, width = params["size"]
    rows, columns = LAYOUT.index("H"), LAYOUT.index("W")
    y_scale = source_step(images.shape[rows], height, params["align_corners"])
    x_scale = source_step(images.shape[columns], width, params["align_corners"])
    with np.errstate(over="ignore", invalid="ignore"):
        sums = weighted_sums(images, columns, width, x_scale)
        sums = weighted_sums(sums, rows, height, y_scale)
        return {"output": sums * (np.float32(1) / (y_scale * x_scale))}


def source_step(source_length, length, align_corners):
    """Return the number of source elements per output index."""
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
            left, right = np.float32(cell), np.float32(cell + 1)
            is_inside = left < begin and end < right
            weight = scale if is_inside else min(right, end) - max(left, begin)
            # With align_corners, areas extend past the end: the last element repeats there.
            sums[index] += source[min(cell, len(source) - 1)] * weight
    return np.moveaxis(sums, 0, axis)
