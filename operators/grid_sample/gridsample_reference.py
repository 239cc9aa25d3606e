"""GridSample in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The formula is in the ONNX specification of GridSample. Where that is open:

* Locations are float32, computed in the order of PyTorch and onnxruntime: in the nearest mode, a
  rounding error in another order would choose another pixel.
* Padding replaces pixels, not locations, as in onnxruntime and in PyTorch's bicubic mode. In the
  cubic mode with the border, onnx's ReferenceEvaluator differs around the border.
* A location that is NaN gives NaN; an infinite one, too, if it is reflected. onnxruntime 1.32 moves
  both to the edge at the left or the top, with any padding, and the ReferenceEvaluator fails.
"""

import numpy as np

MODES = {  # the names since opset 20, and before it
    "linear": "linear",
    "bilinear": "linear",
    "cubic": "cubic",
    "bicubic": "cubic",
    "nearest": "nearest",
}
PADDINGS = ("zeros", "border", "reflection")
CUBIC = -0.75  # the factor of the kernel's outer parts


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: align_corners, 0 or 1; mode and padding_mode, strings.
    """
    images, grid = input_shapes["x"], input_shapes["grid"]
    if len(images) != 4 or len(grid) != 4:
        raise ValueError("GridSample: x and grid must have 4 dimensions; 3-D data is not supported")
    if grid[0] != images[0] or grid[3] != 2:
        raise ValueError("GridSample: grid must be [N, H_out, W_out, 2], with the N of x")
    if 0 in images[2:]:
        raise ValueError("GridSample: the images of x must have pixels")
    if params["mode"] not in MODES:
        raise ValueError(
            "GridSample: mode must be linear, cubic or nearest, not {!r}".format(params["mode"])
        )
    if params["padding_mode"] not in PADDINGS:
        raise ValueError(
            "GridSample: padding_mode must be zeros, border or reflection, not {!r}".format(
                params["padding_mode"]
            )
        )
    if params["align_corners"] not in (0, 1):
        raise ValueError(
            "GridSample: align_corners must be 0 or 1, not {}".format(params["align_corners"])
        )
    return {"y": (images[0], images[1], grid[1], grid[2])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    images, grid = inputs["x"], inputs["grid"]
    if images.dtype.kind != "f" or grid.dtype.kind != "f":
        raise ValueError("GridSample: x and grid must be float16 or float32")
    height, width = images.shape[2:]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        columns = locations(grid[..., 0], width, params)
        rows = locations(grid[..., 1], height, params)
        sums = None
        for row, row_weight in neighbors(rows, height, params):
            for column, column_weight in neighbors(columns, width, params):
                weighted = weighted_pixels(images, row, column, row_weight * column_weight)
                sums = weighted if sums is None else sums + weighted
        return {"y": sums.astype(images.dtype)}


def locations(positions, length, params):
    """Return the locations of normalized positions along an axis, in pixels, near the image."""
    offsets = positions.astype(np.float32) + np.float32(1)
    if params["align_corners"]:
        found = offsets / np.float32(2) * np.float32(length - 1)
    else:
        found = (offsets * np.float32(length) - np.float32(1)) / np.float32(2)
    found = found.astype(np.float64)
    if params["padding_mode"] == "reflection":
        period = reflection_period(length, params)
        return np.fmod(found, period) if period else found
    return np.clip(found, -3, length + 2)  # beyond, all neighbors are outside of the image


def reflection_period(length, params):
    """Return the number of pixels after which reflections repeat."""
    return 2 * (length - 1) if params["align_corners"] else 2 * length


def neighbors(found, length, params):
    """Return pairs of the neighbors' indices along an axis, -1: outside, and their weights."""
    mode = MODES[params["mode"]]
    first = np.rint(found) if mode == "nearest" else np.floor(found)  # rint: ties to even
    after = found - first
    before = 1 - after
    if mode == "nearest":
        weights = [np.where(np.isnan(found), found, 1)]
    elif mode == "linear":
        weights = [before, after]
    else:
        weights = [
            CUBIC * after * before**2,
            ((CUBIC + 2) * after - (CUBIC + 3)) * after**2 + 1,
            ((CUBIC + 2) * before - (CUBIC + 3)) * before**2 + 1,
            CUBIC * before * after**2,
        ]
        first -= 1
    first = np.nan_to_num(first).astype(np.int64)
    return [(padded(first + i, length, params), weight) for i, weight in enumerate(weights)]


def padded(index, length, params):
    """Return the indices of pixels that replace those outside of the image; -1: zero."""
    if params["padding_mode"] == "zeros":
        return np.where((index >= 0) & (index < length), index, -1)
    if params["padding_mode"] == "border":
        return np.clip(index, 0, length - 1)
    period = reflection_period(length, params)
    if period == 0:
        return np.zeros_like(index)
    index = index % period
    mirrored = period - index - (0 if params["align_corners"] else 1)
    return np.where(index < length, index, mirrored)


def weighted_pixels(images, rows, columns, weights):
    """Return pixels of all channels, [N, C, H_out, W_out], in float64; outside of images 0."""
    batch = np.arange(len(images))[:, np.newaxis, np.newaxis]
    pixels = np.moveaxis(images[batch, :, rows, columns], -1, 1).astype(np.float64)
    is_outside = (rows < 0) | (columns < 0)
    return np.where(is_outside[:, np.newaxis], 0, pixels * weights[:, np.newaxis])
