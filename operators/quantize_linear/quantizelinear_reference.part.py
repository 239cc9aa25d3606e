TYPES = {2: "uint8", 3: "int8", 4: "uint16", 5: "int16"}


def reference(inputs, params):
    """Return the array of the output.

    Floats as integers, in steps of a scale from a zero point on, as in the ONNX specification of
    QuantizeLinear. All is float32, as in onnxruntime; numbers are rounded half to even, and
    saturate. NaN, about which the specification says nothing, becomes the lowest number.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, scale, zero = (inputs[name] for name in ("x", "y_scale", "y_zero_point"))
    if x.dtype.kind != "f" or scale.dtype.kind != "f":
        raise ValueError("QuantizeLinear: x and y_scale must be float16 or float32")
    if zero.dtype.name not in TYPES.values():
        raise ValueError(
            "QuantizeLinear: y must be int8, uint8, int16 or uint16, and y_zero_point of its type"
        )
    if params["output_dtype"] and TYPES[params["output_dtype"]] != zero.dtype:
        raise ValueError("QuantizeLinear: output_dtype must be 0 or the type of y")
    limits = np.iinfo(zero.dtype)
    scales = spread(scale.astype(np.float32), x.shape, params)
    zeros = spread(zero.reshape(scale.shape), x.shape, params).astype(np.float32)
    low, high = np.float32(limits.min) - zeros, np.float32(limits.max) - zeros
    with np.errstate(all="ignore"):
        steps = x.astype(np.float32) / scales
        within = np.where(steps > low, np.where(steps < high, steps, high), low)
    return {"y": (np.rint(within) + zeros).astype(zero.dtype)}
