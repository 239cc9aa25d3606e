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
            "ConvInteger: x_zero_point must be one number, and w_zero_point one or [M]"
        )
    return {"y": (x[0], w[0], *windows)}


def reference(inputs, params):
    """Return the array of the output.

    Sums of products of integers without their zero points, as in the ONNX specification of
    ConvInteger. Places outside of the image add nothing. Sums have 32 bits, and wrap around.

    inputs: dict of input name -> array.
    params: as above.
    """
    x, w, x_zero, w_zero = (inputs[name] for name in ("x", "w", "x_zero_point", "w_zero_point"))
    if not {x.dtype, w.dtype} <= {np.dtype(np.int8), np.dtype(np.uint8)}:
        raise ValueError("ConvInteger: x and w must be int8 or uint8")
    if (x_zero.dtype, w_zero.dtype) != (x.dtype, w.dtype):
        raise ValueError("ConvInteger: zero points must be of the types of x and w")
    images = x.astype(np.int64) - x_zero.ravel()[0]
    kernels = w.astype(np.int64) - w_zero.reshape(-1, *[1] * (w.ndim - 1))
    return {"y": sums_of(images, kernels, params).astype(np.int32)}
