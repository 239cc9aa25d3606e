"""BitCast in numpy: the reference for every kernel.

The bits of elements as those of another type of the same size, as in the ONNX specification of
BitCast.
"""

import numpy as np

TYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    12: "uint32",
}


def output_shapes(input_shapes, params):
    """Return the shape of the output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: to, an int.
    """
    return {"output": tuple(input_shapes["input"])}


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, dtype = inputs["input"], np.dtype(TYPES[params["to"]])
    if dtype.itemsize != x.dtype.itemsize:
        raise ValueError("BitCast: output must have elements of the size of input's, and its shape")
    return {"output": x.view(dtype)}
