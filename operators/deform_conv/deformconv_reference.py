"""DeformConv in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

A convolution whose kernel's elements move by offsets, as in the ONNX specification of DeformConv:
the sample of an element is interpolated from its four neighbors, of which those outside of the
image are 0, and multiplied by the mask. Where the specification is open:

* The location of a sample is float32, as in onnxruntime; all else is computed in float64.
* A pixel of weight 0 counts as 0, also if it is not finite; then onnxruntime gives NaN.
* A location that is NaN gives NaN, and an infinite one 0. onnxruntime 1.32 gives 0 for both.
"""

import numpy as np

MAX_ELEMENTS = 256  # of a kernel, in one channel


def repeated(items, count):
    """Return a list, or its only item for all dimensions."""
    return list(items) * count if len(items) == 1 else list(items)


def geometry(image, kernel, params):
    """Return the size of the output, strides, dilations, and pads before: rows and columns each."""
    shape, dilations, strides = (
        repeated(params[name], 2) for name in ("kernel_shape", "dilations", "strides")
    )
    pads = repeated(params["pads"], 4)
    if (len(shape), len(dilations), len(strides), len(pads)) != (2, 2, 2, 4):
        raise ValueError(
            "DeformConv: kernel_shape, dilations and strides must have 2 items, and pads 4"
        )
    if any(given not in (0, side) for given, side in zip(shape, kernel, strict=True)):
        raise ValueError(f"DeformConv: kernel_shape must be that of w, not {shape}")
    if min(strides + dilations) < 1 or min(pads) < 0:
        raise ValueError("DeformConv: strides and dilations must be above 0, and pads not negative")
    output = []
    for i in range(2):
        room = image[i] + pads[i] + pads[2 + i] - dilations[i] * (kernel[i] - 1) - 1
        if room < 0:
            raise ValueError("DeformConv: a kernel must fit into the image with its pads")
        output.append(room // strides[i] + 1)
    return output, strides, dilations, pads[:2]


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: group and offset_group, ints; the others, lists of ints.
    """
    x, w, offset, bias, mask = (tuple(input_shapes[n]) for n in ("x", "w", "offset", "b", "mask"))
    if len(x) != 4 or len(w) != 4:
        raise ValueError("DeformConv: x and w must have 4 dimensions: images of 2 dimensions")
    if 0 in x[2:]:
        raise ValueError("DeformConv: the images of x must have 1 to 2^32 - 1 pixels")
    output = geometry(x[2:], w[2:], params)[0]
    group, offset_group = params["group"], params["offset_group"]
    if group < 1 or offset_group < 1:
        raise ValueError("DeformConv: group and offset_group must be above 0")
    if x[1] % group or w[0] % group or x[1] % offset_group:
        raise ValueError(
            "DeformConv: the channels must be a multiple of group and offset_group, "
            "and the M of w of group"
        )
    if w[1] != x[1] // group:
        raise ValueError("DeformConv: w must be [M, C / group, kernel height, kernel width]")
    elements = w[2] * w[3]
    if not 1 <= elements <= MAX_ELEMENTS:
        raise ValueError("DeformConv: kernels must have 1 to 256 elements")
    if offset != (x[0], 2 * offset_group * elements, *output):
        raise ValueError(
            "DeformConv: offset must be [N, offset_group * kernel elements * 2, H_out, W_out]"
        )
    if mask != (x[0], offset_group * elements, *output):
        raise ValueError(
            "DeformConv: mask must be [N, offset_group * kernel elements, H_out, W_out]"
        )
    if bias != (w[0],):
        raise ValueError("DeformConv: b must be [M]")
    return {"y": (x[0], w[0], *output)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if any(array.dtype.kind != "f" for array in inputs.values()):
        raise ValueError("DeformConv: all tensors must be float16 or float32")
    x, w = inputs["x"], inputs["w"].astype(np.float64)
    shape = output_shapes({name: array.shape for name, array in inputs.items()}, params)["y"]
    group = params["group"]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        samples = sampled(inputs, params)  # [N, C, elements, H_out * W_out]
        terms = w.shape[1] * w.shape[2] * w.shape[3]
        samples = samples.reshape(len(x), group, terms, shape[2] * shape[3])
        sums = w.reshape(group, shape[1] // group, terms) @ samples
        sums = sums.reshape(shape) + inputs["b"].astype(np.float64)[:, np.newaxis, np.newaxis]
        return {"y": sums.astype(x.dtype)}


def sampled(inputs, params):
    """Return the samples of each channel, element of the kernel and location, times the mask."""
    x, kernel = inputs["x"], inputs["w"].shape[2:]
    shape = len(x), params["offset_group"], kernel[0] * kernel[1]
    locations = inputs["mask"].shape[2] * inputs["mask"].shape[3]
    offset = inputs["offset"].astype(np.float32).reshape(*shape, 2, locations)
    mask = inputs["mask"].astype(np.float64).reshape(*shape, locations)
    rows, columns = places(x.shape[2:], kernel, params)
    channels = x.shape[1] // shape[1]
    pixels = x.astype(np.float64).reshape(*shape[:2], channels, x.shape[2] * x.shape[3])
    sums = np.zeros((*pixels.shape[:3], shape[2] * locations))
    for row, row_weight in neighbors(rows + offset[:, :, :, 0], x.shape[2]):
        for column, column_weight in neighbors(columns + offset[:, :, :, 1], x.shape[3]):
            weights = flat(row_weight * column_weight * mask)
            found = np.take_along_axis(pixels, flat(row * x.shape[3] + column), -1)
            sums += np.where(weights == 0, 0, found * weights)
    return sums.reshape(len(x), x.shape[1], shape[2], locations)


def places(image, kernel, params):
    """Return the rows and columns of the elements of the kernel at each location: [elements, *]."""
    output, strides, dilations, pads = geometry(image, kernel, params)
    element, location = np.indices(kernel), np.indices(output)
    return [
        np.add.outer(
            element[i].ravel() * dilations[i] - pads[i], location[i].ravel() * strides[i]
        ).astype(np.float32)
        for i in range(2)
    ]


def neighbors(locations, length):
    """Return the two neighbors along a dimension, and their weights; outside, the weight is 0."""
    clipped = np.clip(locations, -1, length).astype(np.float64)  # NaN stays NaN
    left = np.floor(clipped)
    pairs = []
    for index, weight in ((left, 1 - (clipped - left)), (left + 1, clipped - left)):
        is_outside = (index < 0) | (index >= length)
        inside = np.clip(np.nan_to_num(index), 0, length - 1).astype(np.int64)
        pairs.append((inside, np.where(is_outside, 0, weight)))
    return pairs


def flat(array):
    """Return [N, groups, elements, locations] for all channels: [N, groups, 1, *]."""
    return array.reshape(*array.shape[:2], 1, array.shape[2] * array.shape[3])
