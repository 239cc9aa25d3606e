"""LpPool in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The p-norms of the windows of images, as in the ONNX specification of LpPool, in float64. With
ceil_mode, a window that begins behind the image is left out, as in PyTorch and onnxruntime. With
SAME_UPPER and SAME_LOWER, pads are negative where strides are larger than windows: then the first
one begins inside of the image, as in onnxruntime.
"""

import itertools

import numpy as np

MAX_DIMENSIONS = 3  # of an image


def repeated(items, count):
    """Return a list, or its only item for all dimensions."""
    return list(items) * count if len(items) == 1 else list(items)


def layout(image, params):
    """Return kernel, strides, dilations, pads before the image, and the windows."""
    count = len(image)
    if not 1 <= count <= MAX_DIMENSIONS:
        raise ValueError("LpPool: x must be [N, C, ...], with 1 to 3 dimensions behind C")
    kernel = list(params["kernel_shape"])
    strides, dilations = (repeated(params[name], count) for name in ("strides", "dilations"))
    pads = repeated(params["pads"], 2 * count)
    if (len(kernel), len(strides), len(dilations), len(pads)) != (count, count, count, 2 * count):
        raise ValueError(
            "LpPool: kernel_shape, strides and dilations must have an item for each dimension, and "
            "pads two"
        )
    if params["auto_pad"] not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise ValueError(
            "LpPool: auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, "
            f"not {params['auto_pad']}"
        )
    if params["ceil_mode"] not in (0, 1):
        raise ValueError(f"LpPool: ceil_mode must be 0 or 1, not {params['ceil_mode']}")
    if params["p"] < 1:
        raise ValueError(f"LpPool: p must be 1 or more, not {params['p']}")
    if min(kernel + strides + dilations) < 1 or min(pads) < 0:
        raise ValueError(
            "LpPool: kernel_shape, strides and dilations must be above 0, and pads not negative"
        )
    before, windows = [], []
    for i in range(count):
        extent = dilations[i] * (kernel[i] - 1) + 1
        ends = pads[i], pads[count + i]
        if params["auto_pad"] == "VALID":
            ends = 0, 0
        if params["auto_pad"].startswith("SAME_"):
            found = -(-image[i] // strides[i])
            if found == 0:
                raise ValueError("LpPool: a window must fit into the image with its pads")
            total = (found - 1) * strides[i] + extent - image[i]
            first = int((total + (params["auto_pad"] == "SAME_LOWER")) / 2)  # rounded toward 0
        else:
            first = ends[0]
            room = image[i] + sum(ends) - extent
            if room < 0:
                raise ValueError("LpPool: a window must fit into the image with its pads")
            found = room // strides[i] + 1
            is_partial = params["ceil_mode"] and room % strides[i]
            found += bool(is_partial and found * strides[i] < image[i] + first)
        before.append(first)
        windows.append(found)
    return kernel, strides, dilations, before, windows


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: kernel_shape, strides, dilations and pads, lists of ints; p
        and ceil_mode, ints; auto_pad, a text.
    """
    shape = tuple(input_shapes["x"])
    return {"y": (*shape[:2], *layout(shape[2:], params)[-1])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if x.dtype.kind != "f":
        raise ValueError("LpPool: x and y must be float16 or float32")
    kernel, strides, dilations, before, windows = layout(x.shape[2:], params)
    pads = [(0, 0), (0, 0)]
    for i in range(len(kernel)):
        end = strides[i] * (windows[i] - 1) + dilations[i] * (kernel[i] - 1) + 1
        pads.append((max(before[i], 0), max(end - before[i] - x.shape[2 + i], 0)))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        powers = np.pad(np.abs(x.astype(np.float64)) ** params["p"], pads)
        sums = np.zeros((*x.shape[:2], *windows))
        for element in itertools.product(*map(range, kernel)):
            first = [element[i] * dilations[i] - min(before[i], 0) for i in range(len(kernel))]
            places = [
                slice(first[i], first[i] + strides[i] * (windows[i] - 1) + 1, strides[i])
                for i in range(len(kernel))
            ]
            sums += powers[(slice(None), slice(None), *places)]
        return {"y": (sums ** (1 / params["p"])).astype(x.dtype)}
