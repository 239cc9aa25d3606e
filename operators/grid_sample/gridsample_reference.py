"""GridSample in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The formula is in the ONNX specification of GridSample. Where that is open:

* Locations are float32, computed in the order of PyTorch and onnxruntime: in the nearest mode, a
  rounding error in another order would choose another pixel.
* Padding replaces pixels, not locations, as in onnxruntime and in PyTorch's bicubic mode. In the
  cubic mode with the border, onnx's ReferenceEvaluator differs around the border.
* A location that is NaN gives NaN; an infinite one, too, if it is reflected. onnxruntime 1.32 moves
  both to the edge at the left or the top, with any padding, and the ReferenceEvaluator fails.
* A pixel of weight 0 counts as 0, also if it is not finite; then onnxruntime gives NaN.
"""

import itertools
import math

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
    images, grid = tuple(input_shapes["x"]), tuple(input_shapes["grid"])
    if len(images) not in (4, 5) or len(grid) != len(images):
        raise ValueError("GridSample: x and grid must have 4 dimensions, or 5")
    axes = len(images) - 2
    if grid[0] != images[0] or grid[-1] != axes:
        raise ValueError(
            "GridSample: grid must be [N, D_out, H_out, W_out, 3], or [N, H_out, W_out, 2], "
            "with the N of x"
        )
    if 0 in images[2:]:
        raise ValueError("GridSample: the images of x must have 1 to 2^32 - 1 pixels")
    if params["mode"] not in MODES:
        raise ValueError(
            "GridSample: mode must be linear, cubic or nearest, not {!r}".format(params["mode"])
        )
    if axes == 3 and MODES[params["mode"]] == "cubic":
        raise ValueError("GridSample: mode must be linear or nearest for x of 5 dimensions")
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
    return {"y": (*images[:2], *grid[1:-1])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    images, grid = inputs["x"], inputs["grid"]
    if images.dtype.kind != "f" or grid.dtype.kind != "f":
        raise ValueError("GridSample: x and grid must be float16 or float32")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        # The grid has the last axis first.
        axes = [
            neighbors(locations(grid[..., -1 - axis], length, params), length, params)
            for axis, length in enumerate(images.shape[2:])
        ]
        sums = 0.0
        for around in itertools.product(*axes):
            indices, weights = zip(*around, strict=True)
            sums = sums + weighted_pixels(images, indices, math.prod(weights))
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
    """Return pairs of the neighbors' indices along an axis, and their weights; outside: 0."""
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
    return [padded(first + i, weight, length, params) for i, weight in enumerate(weights)]


def padded(index, weight, length, params):
    """Return the indices of pixels that replace those outside of the image, and the weights."""
    if params["padding_mode"] == "reflection":
        period = reflection_period(length, params)
        if period == 0:
            return np.zeros_like(index), weight
        index = index % period
        mirrored = period - index - (0 if params["align_corners"] else 1)
        return np.where(index < length, index, mirrored), weight
    if params["padding_mode"] == "zeros":
        weight = np.where((index >= 0) & (index < length), weight, 0)
    return np.clip(index, 0, length - 1), weight


def weighted_pixels(images, indices, weights):
    """Return pixels of all channels, [N, C, *], in float64, times weights; of weight 0: 0."""
    batch = np.arange(len(images)).reshape(-1, *[1] * (weights.ndim - 1))
    pixels = np.moveaxis(images[(batch, slice(None), *indices)], -1, 1).astype(np.float64)
    weights = weights[:, np.newaxis]
    return np.where(weights == 0, 0, pixels * weights)
