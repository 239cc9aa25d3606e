"""QLinearConv in numpy: the reference for every kernel.

Convolutions of quantized numbers, quantized again, as in the ONNX specification of QLinearConv.
Sums of products are integers of 32 bits. A float32, x_scale * w_scale / y_scale, scales them, as in
onnxruntime; they are rounded half to even, and saturate.
"""

import itertools

import numpy as np

MAX_DIMENSIONS = 3  # of an image


def repeated(items, count):
    """Return a list, or its only item for all dimensions."""
    return list(items) * count if len(items) == 1 else list(items)


def layout(x, w, params):
    """Return strides, dilations, pads before the image, and the windows.

    x, w: the shapes of image and kernels.
    """
    count, group = len(x) - 2, params["group"]
    if not 1 <= count <= MAX_DIMENSIONS or len(w) != len(x):
        raise ValueError(
            "QLinearConv: x must be [N, C, ...], with 1 to 3 dimensions behind C, and w "
            "[M, C / group, ...]"
        )
    if group < 1 or w[1] * group != x[1] or w[0] % group:
        raise ValueError(
            "QLinearConv: group must divide C and M, and w must be [M, C / group, ...]"
        )
    image, kernel = x[2:], w[2:]
    shape = list(params["kernel_shape"])
    strides, dilations = (repeated(params[name], count) for name in ("strides", "dilations"))
    pads = repeated(params["pads"], 2 * count)
    given = count if shape == [0] else len(shape)
    if (given, len(strides), len(dilations), len(pads)) != (count, count, count, 2 * count):
        raise ValueError(
            "QLinearConv: kernel_shape, strides and dilations must have an item for each "
            "dimension, and pads two"
        )
    if params["auto_pad"] not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise ValueError(
            "QLinearConv: auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, "
            f"not {params['auto_pad']}"
        )
    if shape not in ([0], list(kernel)):
        raise ValueError("QLinearConv: kernel_shape must be the shape of w behind its channels")
    if min(*kernel, *strides, *dilations) < 1 or min(pads) < 0:
        raise ValueError(
            "QLinearConv: w, strides and dilations must be above 0, and pads not negative"
        )
    before, windows = [], []
    for i in range(count):
        extent = dilations[i] * (kernel[i] - 1) + 1
        ends = (0, 0) if params["auto_pad"] == "VALID" else (pads[i], pads[count + i])
        if params["auto_pad"].startswith("SAME_"):
            found = -(-image[i] // strides[i])
            total = max((found - 1) * strides[i] + extent - image[i], 0)
            first = (total + (params["auto_pad"] == "SAME_LOWER")) // 2
        else:
            first, room = ends[0], image[i] + sum(ends) - extent
            found = room // strides[i] + 1 if room >= 0 else 0
        if found < 1:
            raise ValueError("QLinearConv: a window must fit into the image with its pads")
        before.append(first)
        windows.append(found)
    return strides, dilations, before, windows


def sums_of(x, w, params):
    """Return the sums of products, in int64; x and w are without their zero points."""
    strides, dilations, before, windows = layout(x.shape, w.shape, params)
    count, group = x.ndim - 2, params["group"]
    pads = [(0, 0), (0, 0)]
    for i in range(count):
        end = strides[i] * (windows[i] - 1) + dilations[i] * (w.shape[2 + i] - 1) + 1
        pads.append((before[i], max(end - before[i] - x.shape[2 + i], 0)))
    padded = np.pad(x, pads)
    images = padded.reshape(len(x), group, w.shape[1], *padded.shape[2:])
    kernels = w.reshape(group, len(w) // group, *w.shape[1:])
    sums = np.zeros((len(x), group, kernels.shape[1], *windows), np.int64)
    for element in itertools.product(*map(range, w.shape[2:])):
        places = []
        for i in range(count):
            first = element[i] * dilations[i]
            places.append(slice(first, first + strides[i] * (windows[i] - 1) + 1, strides[i]))
        image = images[(slice(None), slice(None), slice(None), *places)]
        sums += np.einsum("gmc,ngc...->ngm...", kernels[(..., *element)], image)
    return sums.reshape(len(x), len(w), *windows)


def output_shapes(input_shapes, params):
    """Return the shape of the output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: kernel_shape, strides, dilations and pads, lists of ints;
        auto_pad, a text; group, an int.
    """
    shapes = {name: tuple(shape) for name, shape in input_shapes.items()}
    x, w = shapes["x"], shapes["w"]
    *_, windows = layout(x, w, params)
    if np.prod(shapes["x_zero_point"]) != 1 or not is_one_or_row(shapes["w_zero_point"], w[0]):
        raise ValueError(
            "QLinearConv: x_zero_point must be one number, and w_zero_point one or [M]"
        )
    if any(np.prod(shapes[name]) != 1 for name in ("x_scale", "y_scale", "y_zero_point")):
        raise ValueError("QLinearConv: scales and zero points of x and y must be one number")
    if not is_one_or_row(shapes["w_scale"], w[0]):
        raise ValueError("QLinearConv: w_scale must be one number or [M]")
    if np.prod(shapes["b"]) != w[0]:
        raise ValueError("QLinearConv: b must be int32, [M]")
    return {"y": (x[0], w[0], *windows)}


def is_one_or_row(shape, count):
    """Return whether a shape is that of one number, or of a list."""
    return np.prod(shape) == 1 or shape == (count,)


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, w = inputs["x"], inputs["w"]
    if not {x.dtype, w.dtype} <= {np.dtype(np.int8), np.dtype(np.uint8)}:
        raise ValueError("QLinearConv: x and w must be int8 or uint8")
    if (inputs["x_zero_point"].dtype, inputs["w_zero_point"].dtype) != (x.dtype, w.dtype):
        raise ValueError("QLinearConv: zero points must be of the types of x and w")
    if inputs["y_zero_point"].dtype != x.dtype:
        raise ValueError("QLinearConv: y and y_zero_point must be of the type of x")
    x_scale, w_scale, y_scale = (inputs[f"{name}_scale"].ravel() for name in "xwy")
    if any(scale.dtype.kind != "f" for scale in (x_scale, w_scale, y_scale)):
        raise ValueError("QLinearConv: scales must be float16 or float32")
    if inputs["b"].dtype != np.int32:
        raise ValueError("QLinearConv: b must be int32, [M]")
    row = [1] * (w.ndim - 1)
    images = x.astype(np.int64) - inputs["x_zero_point"].ravel()[0]
    kernels = w.astype(np.int64) - inputs["w_zero_point"].reshape(-1, *row)
    bias = inputs["b"].reshape(-1, *row[1:])
    sums = (sums_of(images, kernels, params) + bias).astype(np.int32)
    zero = np.float32(inputs["y_zero_point"].ravel()[0])
    limits = np.iinfo(x.dtype)
    with np.errstate(all="ignore"):
        scales = (x_scale * w_scale / y_scale).astype(np.float32)
        steps = sums.astype(np.float32) * scales.reshape(-1, *row[1:])
        low, high = np.float32(limits.min) - zero, np.float32(limits.max) - zero
        within = np.where(steps > low, np.where(steps < high, steps, high), low)  # NaN is low
        return {"y": (np.rint(within) + zero).astype(x.dtype)}
