"""QuantizeLinear in numpy: the reference for every kernel.

Floats as integers, in steps of a scale from a zero point on, as in the ONNX specification of
QuantizeLinear. All is float32, as in onnxruntime; numbers are rounded half to even, and saturate.
NaN, about which the specification says nothing, becomes the lowest number.
"""

import numpy as np

TYPES = {2: "uint8", 3: "int8", 4: "uint16", 5: "int16"}


def output_shapes(input_shapes, params):
    """Return the shape of the output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: axis, block_size, output_dtype, precision and saturate,
        ints.
    """
    shapes = {name: tuple(shape) for name, shape in input_shapes.items()}
    if np.prod(shapes["y_zero_point"]) != np.prod(shapes["y_scale"]):
        raise ValueError(
            "QuantizeLinear: y must have the shape of x, and y_zero_point that of y_scale"
        )
    spread(np.zeros(shapes["y_scale"]), shapes["x"], params)
    return {"y": shapes["x"]}


def spread(scales, shape, params):
    """Return the scale of each element of a shape, or an array that is broadcast to it."""
    axis, block = params["axis"], params["block_size"]
    if block == 0 and scales.size == 1:
        return scales.reshape(())
    if not -len(shape) <= axis < len(shape):
        raise ValueError("QuantizeLinear: axis must be a dimension of x")
    axis %= len(shape)
    if block == 0:
        if scales.shape != shape[axis : axis + 1]:
            raise ValueError(
                "QuantizeLinear: scales must be one number, or one for each place along the axis"
            )
        return scales.reshape(-1, *[1] * (len(shape) - axis - 1))
    if scales.shape != (*shape[:axis], -(-shape[axis] // block), *shape[axis + 1 :]):
        raise ValueError("QuantizeLinear: scales must be one for each block along the axis")
    return np.take(scales, np.arange(shape[axis]) // block, axis)


def reference(inputs, params):
    """Return the array of the output.

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
