"""MultiscaleDeformableAttention in numpy: the reference for every kernel.

RKNN-Toolkit2 runs it, too. The formula is equation 3 of X. Zhu et al., Deformable DETR (2021),
without the linear layers; the inputs are those of mmcv's MultiScaleDeformableAttnFunction. A sample
is interpolated from its four neighbors in a feature map, of which those outside are 0. The output
is the sum of all levels' samples, times their attention weights. Where the paper is open:

* A feature map is from 0 to 1: its first pixel's center is at half a pixel, as in mmcv.
* The location of a sample, in pixels, is float32; all else is computed in float64.
* A pixel of weight 0 in a sample counts as 0, also if it is not finite.
* A location that is NaN gives NaN, and an infinite one 0.
"""

import numpy as np

MAX_LEVELS = 8


def levels_of(params):
    """Return the height, the width and the first pixel of each level's feature map."""
    sizes, starts = list(params["value_spatial_shapes"]), list(params["value_level_start_index"])
    if not 1 <= len(starts) <= MAX_LEVELS or len(sizes) != 2 * len(starts):
        raise ValueError(
            "MultiscaleDeformableAttention: value_spatial_shapes must have 2 items for each item "
            "of value_level_start_index, which are 1 to 8"
        )
    if min(sizes) < 1 or min(starts) < 0:
        raise ValueError(
            "MultiscaleDeformableAttention: value_spatial_shapes must be above 0, and "
            "value_level_start_index not negative"
        )
    return list(zip(sizes[::2], sizes[1::2], starts, strict=True))


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: value_spatial_shapes and value_level_start_index, lists of
        ints; im2col_step, an int.
    """
    value, locations = tuple(input_shapes["value"]), tuple(input_shapes["sampling_locations"])
    weights = tuple(input_shapes["attention_weights"])
    levels = levels_of(params)
    if params["im2col_step"] < 1:
        raise ValueError("MultiscaleDeformableAttention: im2col_step must be above 0")
    if len(value) != 4:
        raise ValueError("MultiscaleDeformableAttention: value must be [N, S, heads, channels]")
    if any(start + height * width > value[1] for height, width, start in levels):
        raise ValueError("MultiscaleDeformableAttention: value must have the pixels of all levels")
    if len(weights) != 5 or (weights[0], weights[2], weights[3]) != (
        value[0],
        value[2],
        len(levels),
    ):
        raise ValueError(
            "MultiscaleDeformableAttention: attention_weights must be "
            "[N, queries, heads, levels, points]"
        )
    if locations != (*weights, 2):
        raise ValueError(
            "MultiscaleDeformableAttention: sampling_locations must be "
            "[N, queries, heads, levels, points, 2]"
        )
    return {"output": (value[0], weights[1], value[2] * value[3])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if any(array.dtype.kind != "f" for array in inputs.values()):
        raise ValueError("MultiscaleDeformableAttention: all tensors must be float16 or float32")
    value = inputs["value"]
    shape = output_shapes({name: array.shape for name, array in inputs.items()}, params)["output"]
    pixels = value.astype(np.float64)
    image = np.arange(len(value))[:, np.newaxis, np.newaxis, np.newaxis]
    head = np.arange(value.shape[2])[:, np.newaxis]
    sums = np.zeros((*shape[:2], *value.shape[2:]))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for level, (height, width, start) in enumerate(levels_of(params)):
            factors = inputs["attention_weights"][:, :, :, level].astype(np.float64)
            locations = inputs["sampling_locations"][:, :, :, level]
            for row, row_weight in neighbors(locations[..., 1], height):
                for column, column_weight in neighbors(locations[..., 0], width):
                    weights = (row_weight * column_weight)[..., np.newaxis]
                    found = pixels[image, start + row * width + column, head]
                    found *= weights * factors[..., np.newaxis]
                    sums += np.where(weights == 0, 0, found).sum(axis=3)
    return {"output": sums.reshape(shape).astype(value.dtype)}


def neighbors(locations, length):
    """Return the two neighbors along a dimension, and their weights; outside, the weight is 0."""
    places = locations.astype(np.float32) * np.float32(length) - np.float32(0.5)
    clipped = np.clip(places, -1, length).astype(np.float64)  # NaN stays NaN
    left = np.floor(clipped)
    pairs = []
    for index, weight in ((left, 1 - (clipped - left)), (left + 1, clipped - left)):
        is_outside = (index < 0) | (index >= length)
        inside = np.clip(np.nan_to_num(index), 0, length - 1).astype(np.int64)
        pairs.append((inside, np.where(is_outside, 0, weight)))
    return pairs
