"""Hardmax in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

1 at the first maximum along an axis, 0 elsewhere, as in the ONNX specification of Hardmax. NaN, of
which the specification says nothing, is a maximum, as in numpy.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: axis, an int.
    """
    shape = tuple(input_shapes["input"])
    if not -len(shape) <= params["axis"] < len(shape):
        raise ValueError(
            "Hardmax: axis must be from -rank to rank - 1, {} to {}, not {}".format(
                -len(shape), len(shape) - 1, params["axis"]
            )
        )
    return {"output": shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, axis = inputs["input"], params["axis"]
    if x.dtype.kind != "f":
        raise ValueError("Hardmax: input must be float16 or float32")
    output = np.zeros_like(x)
    if x.size > 0:
        first = np.expand_dims(np.argmax(x, axis), axis)
        np.put_along_axis(output, first, 1, axis)
    return {"output": output}
