"""DetectionOutput in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

What TensorRT's plugin EfficientNMS_TRT documents, an operator that exports of YOLO and SSD end
with. Boxes are moved and scaled by anchors, if there are any: corners are added; a center is moved
by sizes of the anchor, and a size is multiplied by a power of e, as in W. Liu et al., SSD: Single
Shot MultiBox Detector (2016), without its variances. Then, from the best score on, a box stays
unless it overlaps one of those that stay, of its class.

Where that is open: of equal scores, the box before is better, and of a box, the class before; NaN
is no detection. The math is in float32, in its order.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: background_class, box_coding, class_agnostic,
        max_output_boxes and score_activation, ints; iou_threshold and score_threshold, floats;
        plugin_version, a str.
    """
    boxes, scores = tuple(input_shapes["boxes"]), tuple(input_shapes["scores"])
    anchors = tuple(input_shapes["anchors"])
    if len(boxes) != 3 or boxes[2] != 4:
        raise ValueError(f"DetectionOutput: boxes must be [N, boxes, 4], not {boxes}")
    if len(scores) != 3 or scores[:2] != boxes[:2]:
        raise ValueError(f"DetectionOutput: scores must be [N, boxes, classes], not {scores}")
    if anchors not in ((1,), boxes, (1, *boxes[1:])):
        raise ValueError(f"DetectionOutput: anchors must be [1 or N, boxes, 4], not {anchors}")
    rows = (boxes[0], params["max_output_boxes"])
    return {
        "num_detections": (boxes[0], 1),
        "detection_boxes": (*rows, 4),
        "detection_scores": rows,
        "detection_classes": rows,
    }


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if any(array.dtype.kind != "f" for array in inputs.values()):
        raise ValueError("DetectionOutput: all inputs must be float16 or float32")
    shapes = output_shapes({name: array.shape for name, array in inputs.items()}, params)
    boxes, scores, anchors = (
        inputs[name].astype(np.float32) for name in ("boxes", "scores", "anchors")
    )
    outputs = {
        "num_detections": np.zeros(shapes["num_detections"], np.int32),
        "detection_boxes": np.zeros(shapes["detection_boxes"], np.float32),
        "detection_scores": np.zeros(shapes["detection_scores"], np.float32),
        "detection_classes": np.full(shapes["detection_classes"], -1, np.int32),
    }
    with np.errstate(all="ignore"):
        if anchors.ndim == 3:
            boxes = decoded(boxes, anchors, params["box_coding"])
        if params["box_coding"]:
            half = boxes[..., 2:] * np.float32(0.5)
            boxes = np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)
        for image, corners in enumerate(boxes):
            rows = selected(corners, scores[image], params)
            found = scores[image][tuple(np.transpose(rows))] if rows else np.zeros(0)
            if params["score_activation"]:
                found = 1 / (1 + np.exp(-found.astype(np.float64)))
            outputs["num_detections"][image] = len(rows)
            outputs["detection_scores"][image, : len(rows)] = found
            outputs["detection_boxes"][image, : len(rows)] = corners[[box for box, _ in rows]]
            outputs["detection_classes"][image, : len(rows)] = [label for _, label in rows]
    return outputs


def ordered(boxes):
    """Return the lower and the upper corners of boxes."""
    return np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])


def decoded(boxes, anchors, is_center):
    """Return boxes from their changes of anchors."""
    if not is_center:
        return np.concatenate(ordered(boxes), -1) + np.concatenate(ordered(anchors), -1)
    centers = boxes[..., :2] * anchors[..., 2:] + anchors[..., :2]
    sizes = anchors[..., 2:] * np.exp(boxes[..., 2:].astype(np.float64)).astype(np.float32)
    return np.concatenate([centers, sizes], axis=-1)


def selected(boxes, scores, params):
    """Return box and class of each detection of an image, the best first."""
    threshold = np.float32(params["score_threshold"])
    if params["score_activation"]:
        wide = np.float64(threshold)
        threshold = np.float32(np.log(wide) - np.log1p(-wide) if wide > 0 else -np.inf)
    is_candidate = scores >= threshold
    if 0 <= params["background_class"] < scores.shape[1]:
        is_candidate[:, params["background_class"]] = False
    low, high = ordered(boxes)
    sizes = high - low
    areas = sizes[:, 0] * sizes[:, 1]
    rows = np.argwhere(is_candidate)
    found = []
    for box, label in rows[np.argsort(-scores[is_candidate], kind="stable")].tolist():
        others = [each for each, own in found if params["class_agnostic"] or own == label]
        size = np.minimum(high[box], high[others]) - np.maximum(low[box], low[others])
        common = size[:, 0] * size[:, 1]
        total = areas[box] + areas[others] - common
        is_valid = (size > 0).all(-1) & (common > 0) & (total > 0)
        iou = np.where(is_valid, common / np.where(is_valid, total, 1), 0)
        if not np.any(iou >= np.float32(params["iou_threshold"])):
            found.append((box, label))
            if len(found) == params["max_output_boxes"]:
                break
    return found
