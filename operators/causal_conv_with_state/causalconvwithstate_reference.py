"""CausalConvWithState in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

As in the ONNX specification of CausalConvWithState, in float64: each channel is convolved with a
kernel of its own, whose last element is for the present, and the ones before for the past.
ONNX's bias and past_state are optional. Here they are zeros then.
"""

import numpy as np


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: activation, a str.
    """
    shape, weight = tuple(input_shapes["input"]), tuple(input_shapes["weight"])
    if len(shape) != 3:
        raise ValueError(f"CausalConvWithState: input must be [N, C, L], not {shape}")
    if len(weight) != 3 or weight[:2] != (shape[1], 1) or weight[2] < 1:
        raise ValueError(
            f"CausalConvWithState: weight must be [C, 1, K] with K above 0, not {weight}"
        )
    if tuple(input_shapes["bias"]) != shape[1:2]:
        raise ValueError(f"CausalConvWithState: bias must be [C], not {input_shapes['bias']}")
    state = (*shape[:2], weight[2] - 1)
    if tuple(input_shapes["past_state"]) != state:
        raise ValueError(
            "CausalConvWithState: past_state must be [N, C, K - 1], "
            f"not {input_shapes['past_state']}"
        )
    return {"output": shape, "present_state": state}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if any(array.dtype.kind != "f" for array in inputs.values()):
        raise ValueError("CausalConvWithState: all tensors must be float16 or float32")
    output_shapes({name: array.shape for name, array in inputs.items()}, params)
    x, weight = inputs["input"], inputs["weight"].astype(np.float64)
    whole = np.concatenate([inputs["past_state"], x], axis=2)
    length, taps = x.shape[2], weight.shape[2]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        y = inputs["bias"].astype(np.float64)[:, np.newaxis] + sum(
            weight[:, :, i] * whole[:, :, i : i + length] for i in range(taps)
        )
        if params["activation"] != "none":
            y = y / (1 + np.exp(-y))
        return {"output": y.astype(x.dtype), "present_state": whole[:, :, length:]}
