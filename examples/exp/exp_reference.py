"""Exp in numpy: what every kernel is compared with, and what RKNN-Toolkit runs.

The toolkit carries this file into its own Python, 3.5 to 3.8: no f-strings, no annotations, and
nothing but numpy and the standard library.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: the name of each input -> its shape, slowest dimension first.
    params: the name of each param -> its value; Exp has none.
    """
    return {"output": tuple(input_shapes["input"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: the name of each input -> its array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["input"]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        # Through float64, because numpy's float32 exponential may be wrong in its last bits.
        return {"output": np.exp(x.astype(np.float64)).astype(x.dtype)}
