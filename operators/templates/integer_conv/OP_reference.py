{{ docstring }}

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
            "{{ spec.name }}: x must be [N, C, ...], with 1 to 3 dimensions behind C, and w "
            "[M, C / group, ...]"
        )
    if group < 1 or w[1] * group != x[1] or w[0] % group:
        raise ValueError(
            "{{ spec.name }}: group must divide C and M, and w must be [M, C / group, ...]"
        )
    image, kernel = x[2:], w[2:]
    shape = list(params["kernel_shape"])
    strides, dilations = (repeated(params[name], count) for name in ("strides", "dilations"))
    pads = repeated(params["pads"], 2 * count)
    given = count if shape == [0] else len(shape)
    if (given, len(strides), len(dilations), len(pads)) != (count, count, count, 2 * count):
        raise ValueError(
            "{{ spec.name }}: kernel_shape, strides and dilations must have an item for each "
            "dimension, and pads two"
        )
    if params["auto_pad"] not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise ValueError(
            "{{ spec.name }}: auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, "
            f"not {params['auto_pad']}"
        )
    if shape not in ([0], list(kernel)):
        raise ValueError("{{ spec.name }}: kernel_shape must be the shape of w behind its channels")
    if min(*kernel, *strides, *dilations) < 1 or min(pads) < 0:
        raise ValueError(
            "{{ spec.name }}: w, strides and dilations must be above 0, and pads not negative"
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
            raise ValueError("{{ spec.name }}: a window must fit into the image with its pads")
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


def is_one_or_row(shape, count):
    """Return whether a shape is that of one number, or of a list."""
    return np.prod(shape) == 1 or shape == (count,)


{{ own }}
