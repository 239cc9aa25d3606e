"""GroupNormalization in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Mean 0 and variance 1 of each group of channels, then a scale and a bias, as in the ONNX
specification of GroupNormalization, in float64. Scale and bias are of each channel, as from opset
21 on, or of each group, as before.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: num_groups and stash_type, ints; epsilon, a float.
    """
    shape = tuple(input_shapes["x"])
    groups = params["num_groups"]
    if params["stash_type"] != 1:
        raise ValueError(
            "GroupNormalization: stash_type must be 1: the math is in float32; "
            f"not {params['stash_type']}"
        )
    if len(shape) < 3:
        raise ValueError(
            "GroupNormalization: x must be [N, C, D1, ...], with 3 dimensions or more, "
            f"not {list(shape)}"
        )
    if groups < 1 or shape[1] % groups != 0:
        raise ValueError(
            "GroupNormalization: num_groups must be a divisor of the channels, "
            f"{shape[1]}; not {groups}"
        )
    scale, bias = tuple(input_shapes["scale"]), tuple(input_shapes["bias"])
    if scale != bias or scale not in ((shape[1],), (groups,)):
        raise ValueError(
            "GroupNormalization: scale and bias must have an element for each channel, or for each "
            f"group: [{shape[1]}] or [{groups}], not {list(scale)} and {list(bias)}"
        )
    return {"y": shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, scale, bias = inputs["x"], inputs["scale"], inputs["bias"]
    if any(array.dtype.kind != "f" for array in (x, scale, bias)):
        raise ValueError("GroupNormalization: x, scale, bias and y must be float16 or float32")
    output_shapes({name: array.shape for name, array in inputs.items()}, params)
    if x.size == 0:
        return {"y": x.copy()}
    groups = x.reshape(x.shape[0], params["num_groups"], -1)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.mean(groups, axis=-1, keepdims=True, dtype=np.float64)
        variance = np.mean(np.square(groups - mean), axis=-1, keepdims=True)
        normalized = (groups - mean) / np.sqrt(variance + np.float32(params["epsilon"]))
        parts = normalized.reshape(x.shape[0], scale.size, -1)
        y = parts * scale[:, np.newaxis] + bias[:, np.newaxis]
        return {"y": y.reshape(x.shape).astype(x.dtype)}
