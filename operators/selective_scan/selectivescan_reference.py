"""SelectiveScan in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The scan of A. Gu and T. Dao, Mamba: Linear-Time Sequence Modeling with Selective State Spaces
(2023), in float64. Each channel has a state of some numbers. At each position,

* the step is delta, to which a bias is added, and softplus(x) = log(1 + e^x) applied if asked;
* the state is multiplied by e^(step * a), and step * b * u is added to it;
* the output is the sum of the state times c, and d * u.

Where the paper is open: the factor of u is step * b, as in its code, not the exact integral.
"""

import numpy as np

MAX_STATES = 256


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: delta_softplus, 0 or 1.
    """
    shapes = {name: tuple(shape) for name, shape in input_shapes.items()}
    u, a = shapes["u"], shapes["a"]
    if len(u) != 3:
        raise ValueError(f"SelectiveScan: u must be [N, S, channels], not {u}")
    count, length, channels = u
    if len(a) != 2 or a[0] != channels or not 1 <= a[1] <= MAX_STATES:
        raise ValueError(
            f"SelectiveScan: a must be [channels, states], with 1 to {MAX_STATES} states, not {a}"
        )
    states = a[1]
    expected = {
        "delta": ("[N, S, channels]", u),
        "b": ("[N, S, states]", (count, length, states)),
        "c": ("[N, S, states]", (count, length, states)),
        "d": ("[channels]", (channels,)),
        "delta_bias": ("[channels]", (channels,)),
        "past_state": ("[N, channels, states]", (count, channels, states)),
    }
    for name, (form, shape) in expected.items():
        if shapes[name] != shape:
            raise ValueError(f"SelectiveScan: {name} must be {form}, not {shapes[name]}")
    return {"y": u, "present_state": (count, channels, states)}


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if any(array.dtype.kind != "f" for array in inputs.values()):
        raise ValueError("SelectiveScan: all tensors must be float16 or float32")
    output_shapes({name: array.shape for name, array in inputs.items()}, params)
    u, delta, a, b, c, d, bias, state = (
        inputs[name].astype(np.float64)
        for name in ("u", "delta", "a", "b", "c", "d", "delta_bias", "past_state")
    )
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        step = delta + bias
        if params["delta_softplus"]:
            step = np.logaddexp(0, step)
        y = d * u
        for i in range(u.shape[1]):
            added = (step[:, i] * u[:, i])[..., np.newaxis] * b[:, i, np.newaxis]
            state = np.exp(step[:, i, :, np.newaxis] * a) * state + added
            y[:, i] += (state * c[:, i, np.newaxis]).sum(axis=-1)
        return {
            "y": y.astype(inputs["u"].dtype),
            "present_state": state.astype(inputs["past_state"].dtype),
        }
