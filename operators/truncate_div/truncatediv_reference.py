"""TruncateDiv in numpy: the reference for every kernel; the toolkits run it, too.

x / y, rounded toward zero, as C divides integers; Python's own // rounds down.

RKNN-Toolkit's own Python is 3.5 to 3.8: no f-strings, no annotations, and nothing but numpy and the
standard library.
"""

from itertools import zip_longest

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value; TruncateDiv has none.
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

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, y = inputs["x"], inputs["y"]
    if x.dtype.kind == "f":
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            return {"output": np.trunc(x / y)}
    if x.dtype not in (np.int16, np.int32):
        raise ValueError("TruncateDiv: x and y must be float16, float32, int16 or int32")
    if not y.all():
        raise ZeroDivisionError("TruncateDiv: y must not hold 0 if the tensors are integers")
    # float64 is exact enough for quotients of int32. The cast through int64 wraps the only overflow
    # (-2**31 / -1, for int16 -2**15 / -1) to the dividend on every platform.
    quotient = np.trunc(x.astype(np.float64) / y.astype(np.float64))
    return {"output": quotient.astype(np.int64).astype(x.dtype)}
