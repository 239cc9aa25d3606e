"""Sum in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The sum of all inputs of op.yml, which are broadcast as in numpy. Sums are in float64, and rounded
once: onnxruntime, which adds float32, differs in the last bits.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output, to which the inputs broadcast.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; Sum has none.
    """
    arrays = [np.broadcast_to(0, shape) for shape in input_shapes.values()]
    return {"sum": np.broadcast(*arrays).shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    data = list(inputs.values())
    if any(array.dtype.kind != "f" for array in data):
        raise ValueError("Sum: inputs must be float16 or float32")
    with np.errstate(over="ignore", invalid="ignore"):
        total = sum(array.astype(np.float64) for array in data)
        return {"sum": total.astype(data[0].dtype)}
