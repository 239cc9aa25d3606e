"""DecodeBoxes in numpy: the reference for every kernel; RKNN-Toolkit runs it, too.

The box coder of Faster R-CNN and SSD: the center of an anchor moves by (ty, tx) times its size, and
its size grows by the factor exp(th, tw). Computes in float64, because a box edge is the difference
of large numbers.

Its own Python is 3.5 to 3.8: no f-strings, no annotations, and nothing but numpy and the standard
library.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: image_size [height, width], clip bool, offset 0 or
        1, min_size int, max_log_scale float, area_scale float.
    """
    deltas, anchors = tuple(input_shapes["deltas"]), tuple(input_shapes["anchors"])
    if len(deltas) < 3 or len(anchors) != 2 or anchors[1] != 4 or deltas[-2:] != anchors:
        shapes = str(deltas) + " and " + str(anchors)
        raise ValueError("DecodeBoxes: must be deltas [..., N, 4], anchors [N, 4]; not " + shapes)
    return {"boxes": deltas, "areas": deltas[:-1]}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if not inputs["deltas"].dtype.kind == inputs["anchors"].dtype.kind == "f":
        raise ValueError("DecodeBoxes: all tensors must be float16 or float32")
    deltas = inputs["deltas"].astype(np.float64)
    anchors = inputs["anchors"].astype(np.float64)
    offset = params["offset"]
    limits = np.array(params["image_size"], np.float64) - offset

    with np.errstate(over="ignore", invalid="ignore"):
        sizes = anchors[:, 2:] - anchors[:, :2] + offset
        centers = anchors[:, :2] + 0.5 * sizes + deltas[..., :2] * sizes
        sizes = sizes * np.exp(np.minimum(deltas[..., 2:], np.float32(params["max_log_scale"])))
        starts = centers - 0.5 * sizes
        ends = centers + 0.5 * sizes - offset
        if params["clip"]:
            starts, ends = np.clip(starts, 0, limits), np.clip(ends, 0, limits)
        sizes = ends - starts + offset
        areas = sizes[..., 0] * sizes[..., 1] * params["area_scale"]
        areas[(sizes < params["min_size"]).any(axis=-1)] = 0
        return {
            "boxes": np.concatenate([starts, ends], axis=-1).astype(inputs["deltas"].dtype),
            "areas": areas.astype(inputs["deltas"].dtype),
        }
