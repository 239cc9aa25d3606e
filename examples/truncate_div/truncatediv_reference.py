"""TruncateDiv in numpy: what every kernel is compared with, and what RKNN-Toolkit runs.

x / y, rounded toward zero, as C divides integers; Python's own // rounds down.

The toolkit carries this file into its own Python, 3.5 to 3.8: no f-strings, no annotations, and
nothing but numpy and the standard library.
"""

from itertools import zip_longest

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: the name of each input -> its shape, slowest dimension first.
    params: the name of each param -> its value; TruncateDiv has none.
    """
    x, y = tuple(input_shapes["x"]), tuple(input_shapes["y"])
    shape = []
    for a, b in zip_longest(reversed(x), reversed(y), fillvalue=1):
        if a != b and 1 not in (a, b):
            raise ValueError("TruncateDiv: cannot broadcast " + str(x) + " and " + str(y))
        shape.append(b if a == 1 else a)
    return {"output": tuple(reversed(shape))}


def reference(inputs, params):
    """Return the array of each output.

    inputs: the name of each input -> its array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, y = inputs["x"], inputs["y"]
    if x.dtype.kind == "f":
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            return {"output": np.trunc(x / y)}
    if not y.all():
        raise ZeroDivisionError("TruncateDiv: y must not hold 0 if the tensors are integers")
    # Quotients of int32 are far enough from the next integer for float64. By way of int64, the one
    # that does not fit, -2**31 / -1 or for int16 -2**15 / -1, becomes the dividend everywhere.
    quotient = np.trunc(x.astype(np.float64) / y.astype(np.float64))
    return {"output": quotient.astype(np.int64).astype(x.dtype)}
