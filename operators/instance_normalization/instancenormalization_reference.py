"""InstanceNormalization in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Mean 0 and variance 1 of each channel of each image, then a scale and a bias, as in the ONNX
specification of InstanceNormalization, in float64.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: epsilon, a float.
    """
    shape = tuple(input_shapes["input"])
    if len(shape) < 3:
        raise ValueError(
            "InstanceNormalization: input must be [N, C, D1, ...], with 3 dimensions or more, "
            f"not {list(shape)}"
        )
    for name in ("scale", "b"):
        if tuple(input_shapes[name]) != shape[1:2]:
            raise ValueError(
                "InstanceNormalization: scale and b must have an element for each channel: "
                f"[{shape[1]}], not {list(input_shapes[name])}"
            )
    return {"output": shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x, scale, bias = inputs["input"], inputs["scale"], inputs["b"]
    if any(array.dtype.kind != "f" for array in (x, scale, bias)):
        raise ValueError(
            "InstanceNormalization: input, scale, b and output must be float16 or float32"
        )
    output_shapes({name: array.shape for name, array in inputs.items()}, params)
    if x.size == 0:
        return {"output": x.copy()}
    axes = tuple(range(2, x.ndim))
    channels = (-1,) + (1,) * (x.ndim - 2)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.mean(x, axis=axes, keepdims=True, dtype=np.float64)
        variance = np.mean(np.square(x - mean), axis=axes, keepdims=True)
        normalized = (x - mean) / np.sqrt(variance + np.float32(params["epsilon"]))
        output = normalized * scale.reshape(channels) + bias.reshape(channels)
        return {"output": output.astype(x.dtype)}
