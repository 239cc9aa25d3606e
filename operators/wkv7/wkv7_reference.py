"""WKV7 in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The time mixing of RWKV-7, in float64: B. Peng et al., RWKV-7 Goose with Expressive Dynamic State
Evolution (2025). A head has a state, a matrix of keys x values: the transpose of the paper's. At
each position,

* the decay multiplies its rows; to them, b * (a times the state before) is added, and key * value;
* the output is the receptance times the new state.

In the paper, a is the negative removal key, and b the removal key times the learning rate. Where it
is open: w is the decay's logarithm, because halves near 1 lose too many digits of a decay.
"""

import numpy as np

MAX_KEYS = 512


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: an empty dict.
    """
    past, r, v = (tuple(input_shapes[name]) for name in ("past_state", "r", "v"))
    if len(past) != 4 or not 1 <= past[2] <= MAX_KEYS:
        raise ValueError(
            "WKV7: past_state must be [N, heads, key size, value size], with keys of 1 to "
            f"{MAX_KEYS} elements, not {past}"
        )
    count, heads, keys, values = past
    if len(r) != 3 or (r[0], r[2]) != (count, heads * keys):
        raise ValueError(f"WKV7: r must be [N, S, heads * key size], not {r}")
    for name in ("w", "k", "a", "b"):
        if tuple(input_shapes[name]) != r:
            raise ValueError(
                f"WKV7: {name} must be [N, S, heads * key size], not {input_shapes[name]}"
            )
    if v != (*r[:2], heads * values):
        raise ValueError(f"WKV7: v must be [N, S, heads * value size], not {v}")
    return {"y": v, "present_state": past}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if any(array.dtype.kind != "f" for array in inputs.values()):
        raise ValueError("WKV7: all tensors must be float16 or float32")
    output_shapes({name: array.shape for name, array in inputs.items()}, params)
    state = inputs["past_state"].astype(np.float64)
    heads, keys, values = state.shape[1:]
    count, length, _ = inputs["r"].shape

    def columns(name):  # of each position and head
        return inputs[name].astype(np.float64).reshape(count, length, heads, keys, 1)

    r, w, k, a, b = (columns(name) for name in "rwkab")
    v = inputs["v"].astype(np.float64).reshape(count, length, heads, 1, values)
    y = np.zeros(v.shape)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for i in range(length):
            removed = b[:, i] * (a[:, i].swapaxes(-1, -2) @ state)
            state = np.exp(w[:, i]) * state + removed + k[:, i] * v[:, i]
            y[:, i] = r[:, i].swapaxes(-1, -2) @ state
    return {
        "y": y.reshape(inputs["v"].shape).astype(inputs["v"].dtype),
        "present_state": state.astype(inputs["past_state"].dtype),
    }
