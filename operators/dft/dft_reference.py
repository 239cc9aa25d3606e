"""DFT in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The discrete Fourier transforms along an axis, as in the ONNX specification of DFT, in float64, and
rounded once. The default of `axis` is 1 before opset 20, and -2 since: an axis of -1, which is no
dimension of a signal, stands for both, where they are the same.
"""

import numpy as np


def axis_of(shape, params):
    """Return the axis, from 0 on."""
    rank, axis = len(shape), params["axis"]
    if rank < 2 or shape[-1] not in (1, 2):
        raise ValueError("DFT: input must be [..., 1] or [..., 2]")
    if axis == -1:
        if rank > 3:
            raise ValueError("DFT: axis must be given for input of more than 3 dimensions")
        return rank - 2
    if not -rank <= axis < rank - 1:
        raise ValueError(f"DFT: axis must be a dimension of input but the last one, not {axis}")
    return axis % rank


def length_of(shape, params):
    """Return the length of the transforms."""
    length = shape[axis_of(shape, params)]
    if params["inverse"] and params["onesided"]:
        length = 2 * (length - 1)
    if params["dft_length"] < 0 or (params["dft_length"] or length) < 1:
        raise ValueError("DFT: dft_length must be above 0")
    return params["dft_length"] or length


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: dft_length and axis, ints; inverse and onesided, 0 or 1.
    """
    shape = list(input_shapes["input"])
    axis = axis_of(shape, params)
    for name in ("inverse", "onesided"):
        if params[name] not in (0, 1):
            raise ValueError(f"DFT: {name} must be 0 or 1, not {params[name]}")
    if params["onesided"] and shape[-1] != 1 + params["inverse"]:
        kind = "complex, [..., 2]" if params["inverse"] else "real, [..., 1]"
        raise ValueError(f"DFT: input must be {kind}")
    length = length_of(shape, params)
    is_half = params["onesided"] and not params["inverse"]
    shape[axis] = length // 2 + 1 if is_half else length
    shape[-1] = 1 if params["onesided"] and params["inverse"] else 2
    return {"output": tuple(shape)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["input"]
    if x.dtype.kind != "f":
        raise ValueError("DFT: input must be float16 or float32")
    axis, length = axis_of(x.shape, params), length_of(x.shape, params)
    wide = x.astype(np.float64)
    numbers = wide[..., 0] + 1j * wide[..., 1] if x.shape[-1] == 2 else wide[..., 0]
    if params["inverse"] and params["onesided"]:
        y = np.fft.irfft(numbers, length, axis)[..., np.newaxis]
    else:
        y = (np.fft.ifft if params["inverse"] else np.fft.fft)(numbers, length, axis)
        if params["onesided"]:
            y = np.take(y, np.arange(length // 2 + 1), axis)
        y = np.stack([y.real, y.imag], axis=-1)
    return {"output": y.astype(np.float32)}
