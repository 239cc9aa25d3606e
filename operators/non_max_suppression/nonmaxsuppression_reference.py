"""NonMaxSuppression in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The boxes of each class with the best scores that overlap little, as in the ONNX specification of
NonMaxSuppression; but runtimes have no tensors of a varying size, so that the output has the
maximum number of rows: the unused ones are -1, and `count` is the number of the others. Where the
specification is open: of equal scores, the first box is better, and boxes without area overlap
none, as in onnxruntime. The math is in float32, in its order.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: max_output_boxes_per_class, an int; iou_threshold and
        score_threshold, floats; center_point_box, 0 or 1.
    """
    boxes, scores = tuple(input_shapes["boxes"]), tuple(input_shapes["scores"])
    if len(boxes) != 3 or boxes[2] != 4:
        raise ValueError("NonMaxSuppression: boxes must be [N, boxes, 4]")
    if len(scores) != 3 or (scores[0], scores[2]) != boxes[:2]:
        raise ValueError(
            "NonMaxSuppression: scores must be [N, classes, boxes], with the N and boxes of boxes"
        )
    limit = params["max_output_boxes_per_class"]
    if limit < 1:
        raise ValueError(
            f"NonMaxSuppression: max_output_boxes_per_class must be 1 or more, not {limit}"
        )
    if not 0 <= params["iou_threshold"] <= 1:
        raise ValueError(
            "NonMaxSuppression: iou_threshold must be 0 to 1, not {}".format(
                params["iou_threshold"]
            )
        )
    if params["center_point_box"] not in (0, 1):
        raise ValueError(
            "NonMaxSuppression: center_point_box must be 0 or 1, not {}".format(
                params["center_point_box"]
            )
        )
    rows = scores[0] * scores[1] * min(limit, boxes[1])
    return {"selected_indices": (rows, 3), "count": (1,)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    boxes, scores = inputs["boxes"], inputs["scores"]
    if boxes.dtype.kind != "f" or scores.dtype.kind != "f":
        raise ValueError("NonMaxSuppression: boxes and scores must be float16 or float32")
    shapes = output_shapes({name: array.shape for name, array in inputs.items()}, params)
    found = []
    with np.errstate(all="ignore"):
        for image, classes in enumerate(scores):
            corners = corners_of(boxes[image].astype(np.float32), params["center_point_box"])
            for label, row in enumerate(classes):
                found += [(image, label, box) for box in selected(corners, row, params)]
    rows = np.full(shapes["selected_indices"], -1, np.int64)
    rows[: len(found)] = np.array(found, np.int64).reshape(-1, 3)
    return {"selected_indices": rows, "count": np.array([len(found)], np.int64)}


def corners_of(boxes, is_center):
    """Return the left, top, right and bottom of boxes, and their area."""
    if is_center:
        half = boxes[:, 2:] / np.float32(2)
        low, high = boxes[:, :2] - half, boxes[:, :2] + half
    else:
        ends = boxes.reshape(-1, 2, 2)[..., ::-1]
        low, high = np.minimum(ends[:, 0], ends[:, 1]), np.maximum(ends[:, 0], ends[:, 1])
    size = high - low
    return low, high, size[:, 0] * size[:, 1]


def selected(corners, scores, params):
    """Return the indices of the selected boxes of a class, the best first."""
    low, high, areas = corners
    threshold = np.float32(params["iou_threshold"])
    candidates = np.flatnonzero(scores > np.float32(params["score_threshold"]))
    found = []
    for box in candidates[np.argsort(-scores[candidates], kind="stable")]:
        size = np.minimum(high[box], high[found]) - np.maximum(low[box], low[found])
        common = size[:, 0] * size[:, 1]
        total = areas[box] + areas[found] - common
        is_valid = (size > 0).all(-1) & (common > 0) & (total > 0)
        is_valid &= (areas[box] > 0) & (areas[found] > 0)
        if not np.any(is_valid & (common / np.where(total > 0, total, 1) > threshold)):
            found.append(int(box))
            if len(found) == params["max_output_boxes_per_class"]:
                break
    return found
