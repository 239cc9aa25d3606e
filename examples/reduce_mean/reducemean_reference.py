"""ReduceMean in numpy: what every kernel is compared with, and what RKNN-Toolkit runs.

The toolkit carries this file into its own Python, 3.5 to 3.8: no f-strings, no annotations, and
nothing but numpy and the standard library.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: the name of each input -> its shape, slowest dimension first.
    params: the name of each param -> its value; ReduceMean has none.
    """
    return {"output": (*input_shapes["input"][:-1], 1)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: the name of each input -> its array; half-precision tensors arrive as float32.
    params: as above.
    """
    array = inputs["input"]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.mean(array, axis=-1, keepdims=True, dtype=np.float64)
        return {"output": mean.astype(array.dtype)}
