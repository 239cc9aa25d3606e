TYPES = ("int8", "uint8", "int16", "uint16", "int32")


def reference(inputs, params):
    """Return the array of the output.

    Integers as floats, by a scale and a zero point, as in the ONNX specification of
    DequantizeLinear. Differences have 32 bits, and wrap around. All else is float32, as in
    onnxruntime.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, scale, zero = (inputs[name] for name in ("x", "x_scale", "x_zero_point"))
    if x.dtype.name not in TYPES or zero.dtype != x.dtype:
        raise ValueError(
            "DequantizeLinear: x must be int8, uint8, int16, uint16 or int32, and x_zero_point of "
            "its type"
        )
    if scale.dtype.kind != "f":
        raise ValueError("DequantizeLinear: x_scale and y must be float16 or float32")
    scales = spread(scale.astype(np.float32), x.shape, params)
    zeros = spread(zero.reshape(scale.shape), x.shape, params)
    steps = (x.astype(np.int64) - zeros).astype(np.int32)
    with np.errstate(all="ignore"):
        return {"y": steps.astype(np.float32) * scales}
