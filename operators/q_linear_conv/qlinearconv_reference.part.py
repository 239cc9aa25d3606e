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


def reference(inputs, params):
    """Return the array of the output.

    Convolutions of quantized numbers, quantized again, as in the ONNX specification of QLinearConv.
    Sums of products are integers of 32 bits. A float32, x_scale * w_scale / y_scale, scales them,
    as in onnxruntime; they are rounded half to even, and saturate.

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
