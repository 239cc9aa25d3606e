"""PiecewiseLinear in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Linear interpolation between points, like numpy.interp, in float64 throughout.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: points and values, lists of floats, and outside,
        "clamp" or "extend".
    """
    points, values = params["points"], params["values"]
    if len(points) < 2 or len(points) != len(values) or not (np.diff(points) > 0).all():
        raise ValueError("PiecewiseLinear: points must be 2 or more, increasing, with a value each")
    if params["outside"] not in ("clamp", "extend"):
        raise ValueError("PiecewiseLinear: outside must be clamp or extend")
    return {"y": tuple(input_shapes["x"])}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"].astype(np.float64)
    points, values = (np.array(params[name], np.float32) for name in ("points", "values"))
    points, values = points.astype(np.float64), values.astype(np.float64)
    if params["outside"] == "clamp":
        x = np.clip(x, points[0], points[-1])  # NaN stays NaN
    line = np.clip(np.searchsorted(points, x, side="right") - 1, 0, len(points) - 2)
    slope = np.diff(values)[line] / np.diff(points)[line]
    with np.errstate(over="ignore", invalid="ignore"):
        y = values[line] + (x - points[line]) * slope
        return {"y": y.astype(inputs["x"].dtype)}
