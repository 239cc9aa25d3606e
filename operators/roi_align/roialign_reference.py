"""RoiAlign in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Each region of an image is divided into the elements of the output; the samples of an element are
interpolated between pixels, as in the ONNX specification of RoiAlign. Where that is open:

* The locations of samples are float32, computed in the order of onnxruntime, because a rounding
  error may move a sample out of the image. All else is in float64.
* A sample more than one pixel outside of the image is 0. Others are moved to the border.
* The maximum is that of the products of pixels and their weights, as in onnxruntime and in onnx's
  ReferenceEvaluator; a sample outside counts as 0.
* A region without samples gives 0, and so does one that is not finite, where onnxruntime and the
  ReferenceEvaluator fail.
"""

import numpy as np

MAX_SAMPLES = 65536  # of an element along one axis, if sampling_ratio is 0


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: coordinate_transformation_mode and mode, strings;
        output_height, output_width and sampling_ratio, ints; spatial_scale, a float.
    """
    x, rois, indices = (tuple(input_shapes[name]) for name in ("x", "rois", "batch_indices"))
    if len(x) != 4 or 0 in x[2:]:
        raise ValueError("RoiAlign: x must be [N, C, H, W], with pixels")
    if len(rois) != 2 or rois[1] != 4 or indices != rois[:1]:
        raise ValueError("RoiAlign: rois must be [rois, 4], and batch_indices [rois]")
    if params["mode"] not in ("avg", "max"):
        raise ValueError(f"RoiAlign: mode must be avg or max, not {params['mode']!r}")
    transformation = params["coordinate_transformation_mode"]
    if transformation not in ("half_pixel", "output_half_pixel"):
        raise ValueError(
            "RoiAlign: coordinate_transformation_mode must be half_pixel or output_half_pixel, "
            f"not {transformation!r}"
        )
    size = params["output_height"], params["output_width"]
    if min(size) < 1 or params["sampling_ratio"] < 0:
        raise ValueError(
            "RoiAlign: output_height and output_width must be above 0, "
            "and sampling_ratio not negative"
        )
    return {"y": (rois[0], x[1], *size)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, rois, indices = inputs["x"], inputs["rois"], inputs["batch_indices"]
    if x.dtype.kind != "f" or rois.dtype.kind != "f":
        raise ValueError("RoiAlign: x and rois must be float16 or float32")
    if ((indices < 0) | (indices >= len(x))).any():
        raise ValueError("RoiAlign: batch_indices must be from 0 to N - 1")
    shape = output_shapes({name: array.shape for name, array in inputs.items()}, params)["y"]
    y = np.zeros(shape, np.float64)
    with np.errstate(all="ignore"):
        for region, roi, index in zip(y, rois.astype(np.float32), indices, strict=True):
            image = x[index].astype(np.float64)
            rows = [*samples(roi[1], roi[3], image.shape[1], shape[2], params)]
            columns = [*samples(roi[0], roi[2], image.shape[2], shape[3], params)]
            for i, j in np.ndindex(*shape[2:]):
                region[:, i, j] = pooled(image, rows[i], columns[j], params["mode"])
        return {"y": y.astype(x.dtype)}


def samples(begin, end, length, count, params):
    """Yield the samples of each element of the output along an axis.

    These are: the number of all, the indices of two pixels for each one inside, and their weights.
    """
    scale = np.float32(params["spatial_scale"])
    is_half_pixel = params["coordinate_transformation_mode"] == "half_pixel"
    start = begin * scale - np.float32(0.5 if is_half_pixel else 0)
    size = end * scale - np.float32(0.5 if is_half_pixel else 0) - start
    if not is_half_pixel:
        size = np.maximum(size, np.float32(1))
    step = size / np.float32(count)
    total = params["sampling_ratio"] or int(np.clip(np.nan_to_num(np.ceil(step)), 0, MAX_SAMPLES))
    middle = (np.arange(total) + 0.5).astype(np.float32)
    for i in range(count):
        places = start + np.float32(i) * step + middle * step / np.float32(max(total, 1))
        inside = places[(places >= -1) & (places <= length)].astype(np.float64)
        inside = np.clip(inside, 0, length - 1)
        first = np.floor(inside).astype(np.int64)
        after = inside - first
        indices = np.stack([first, np.minimum(first + 1, length - 1)], -1)
        yield total, indices.ravel(), np.stack([1 - after, after], -1).ravel()


def pooled(image, rows, columns, mode):
    """Return an element of the output for all channels."""
    total = rows[0] * columns[0]
    products = image[:, rows[1][:, np.newaxis], columns[1]] * rows[2][:, np.newaxis] * columns[2]
    products = products.reshape(len(image), len(rows[1]) * len(columns[1]))
    if mode == "avg":
        return products.sum(-1) / max(total, 1)
    has_outside = products.shape[1] < 4 * total
    if has_outside or total == 0:
        products = np.pad(products, ((0, 0), (0, 1)))  # by a 0
    return products.max(-1)
