{% set output = spec.outputs[0].name %}
{{ docstring }}

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of the output, to which the inputs broadcast.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; {{ spec.name }} has none.
    """
    arrays = [np.broadcast_to(0, shape) for shape in input_shapes.values()]
    return {"{{ output }}": np.broadcast(*arrays).shape}


def reference(inputs, params):
    """Return the array of the output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    data = list(inputs.values())
    if any(array.dtype.kind != "f" for array in data):
        raise ValueError("{{ spec.name }}: inputs must be float16 or float32")
    with np.errstate(all="ignore"):
        total = sum((array.astype(np.float64) for array in data), -0.0)  # 0 + -0 is 0
{{ own|indent(8, true) }}
        return {"{{ output }}": y.astype(data[0].dtype)}
