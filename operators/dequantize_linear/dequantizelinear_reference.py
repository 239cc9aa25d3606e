"""DequantizeLinear in numpy: the reference for every kernel.

Integers as floats, by a scale and a zero point, as in the ONNX specification of DequantizeLinear.
Differences have 32 bits, and wrap around. All else is float32, as in onnxruntime.
"""

import numpy as np

TYPES = ("int8", "uint8", "int16", "uint16", "int32")


def output_shapes(input_shapes, params):
    """Return the shape of the output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: axis, block_size and output_dtype, ints.
    """
    shapes = {name: tuple(shape) for name, shape in input_shapes.items()}
    if np.prod(shapes["x_zero_point"]) != np.prod(shapes["x_scale"]):
        raise ValueError(
            "DequantizeLinear: y must have the shape of x, and x_zero_point that of x_scale"
        )
    spread(np.zeros(shapes["x_scale"]), shapes["x"], params)
    return {"y": shapes["x"]}


def spread(scales, shape, params):
    """Return the scale of each element of a shape, or an array that is broadcast to it."""
    axis, block = params["axis"], params["block_size"]
    if block == 0 and scales.size == 1:
        return scales.reshape(())
    if not -len(shape) <= axis < len(shape):
        raise ValueError("DequantizeLinear: axis must be a dimension of x")
    axis %= len(shape)
    if block == 0:
        if scales.shape != shape[axis : axis + 1]:
            raise ValueError(
                "DequantizeLinear: scales must be one number, or one for each place along the axis"
            )
        return scales.reshape(-1, *[1] * (len(shape) - axis - 1))
    if scales.shape != (*shape[:axis], -(-shape[axis] // block), *shape[axis + 1 :]):
        raise ValueError("DequantizeLinear: scales must be one for each block along the axis")
    return np.take(scales, np.arange(shape[axis]) // block, axis)


def reference(inputs, params):
    """Return the array of the output.

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
