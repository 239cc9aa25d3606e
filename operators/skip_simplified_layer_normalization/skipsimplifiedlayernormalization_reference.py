"""SkipSimplifiedLayerNormalization in numpy: the reference for every kernel.

RKNN-Toolkit2 runs it, too. As onnxruntime documents its operator of that name, of the domain
com.microsoft: input, skip and bias are added, and the sum is divided by the root of the mean of its
squares, and multiplied by gamma. In float64, from the sums in float32 on, which are an output.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: epsilon, a float.
    """
    shape, skip = tuple(input_shapes["input"]), tuple(input_shapes["skip"])
    if len(shape) not in (2, 3):
        raise ValueError(
            "SkipSimplifiedLayerNormalization: input must be [N, S, hidden] or [S, hidden], "
            f"not {shape}"
        )
    if skip not in (shape, shape[-2:], (1, *shape[-2:])):
        raise ValueError(
            "SkipSimplifiedLayerNormalization: skip must have the shape of input, or be "
            f"[1, S, hidden] or [S, hidden], not {skip}"
        )
    for name in ("gamma", "bias"):
        if tuple(input_shapes[name]) != shape[-1:]:
            raise ValueError(
                f"SkipSimplifiedLayerNormalization: {name} must be [hidden], "
                f"not {input_shapes[name]}"
            )
    return {"output": shape, "input_skip_bias_sum": shape}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if any(array.dtype.kind != "f" for array in inputs.values()):
        raise ValueError("SkipSimplifiedLayerNormalization: all tensors must be float16 or float32")
    output_shapes({name: array.shape for name, array in inputs.items()}, params)
    x, skip, gamma, bias = (inputs[name] for name in ("input", "skip", "gamma", "bias"))
    with np.errstate(over="ignore", invalid="ignore"):
        total = x + skip.reshape(skip.shape[-x.ndim :]) + bias
        squares = np.square(total, dtype=np.float64).sum(axis=-1, keepdims=True)
        mean = squares / max(1, len(gamma))
        y = total / np.sqrt(mean + np.float32(params["epsilon"])) * gamma
        return {"output": y.astype(x.dtype), "input_skip_bias_sum": total}
