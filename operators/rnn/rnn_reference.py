"""RNN in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The recurrence of the ONNX specification of RNN, position by position, in float64: a state is a
function of the products of the input with w, and of the state before with r.

ONNX's b, sequence_lens and initial_h are optional. Here they are zeros, [1] of -1 and zeros then.
Where the specification is open: a sequence without positions ends with zeros, as in onnxruntime.
"""

import numpy as np

FUNCTIONS = {
    "Tanh": np.tanh,
    "Relu": lambda x: np.maximum(x, 0),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: activations and direction, strs; clip, a float; hidden_size
        and layout, ints.
    """
    x, r = tuple(input_shapes["x"]), tuple(input_shapes["r"])
    directions = 2 if params["direction"] == "bidirectional" else 1
    if len(params["activations"].split(",")) < directions:
        raise ValueError("RNN: activations must have a function for each direction")
    if len(x) != 3:
        raise ValueError(f"RNN: x must be [S, N, inputs], or with layout 1 [N, S, inputs], not {x}")
    hidden = params["hidden_size"] or r[-1]
    if r != (directions, hidden, hidden):
        raise ValueError(f"RNN: r must be [directions, hidden, hidden], not {r}")
    length, count = x[1::-1] if params["layout"] else x[:2]
    last = (count, directions) if params["layout"] else (directions, count)
    expected = {
        "w": ((directions, hidden, x[2]), "[directions, hidden, inputs]"),
        "b": ((directions, 2 * hidden), "[directions, 2 * hidden]"),
        "initial_h": (
            (*last, hidden),
            "[directions, N, hidden], or with layout 1 [N, directions, hidden]",
        ),
    }
    for name, (shape, text) in expected.items():
        if tuple(input_shapes[name]) != shape:
            raise ValueError(f"RNN: {name} must be {text}, not {input_shapes[name]}")
    if tuple(input_shapes["sequence_lens"]) not in ((count,), (1,)):
        raise ValueError(f"RNN: sequence_lens must be [N], not {input_shapes['sequence_lens']}")
    states = (count, length, directions) if params["layout"] else (length, directions, count)
    return {"y": (*states, hidden), "y_h": (*last, hidden)}


def lengths_of(given, count, length):
    """Return the length of each sequence."""
    if given.tolist() == [-1]:
        return [length] * count
    if given.shape != (count,) or np.any((given < 0) | (given > length)):
        raise ValueError(
            f"RNN: sequence_lens must be [N], from 0 to S, not {given.tolist()} for S = {length}"
        )
    return given.tolist()


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if any(array.dtype.kind != "f" for name, array in inputs.items() if name != "sequence_lens"):
        raise ValueError("RNN: all tensors but sequence_lens must be float16 or float32")
    output_shapes({name: array.shape for name, array in inputs.items()}, params)
    x, w, r, b, before = (
        inputs[name].astype(np.float64) for name in ("x", "w", "r", "b", "initial_h")
    )
    if params["layout"]:
        x, before = x.swapaxes(0, 1), before.swapaxes(0, 1)
    length, count, _ = x.shape
    directions, hidden, _ = r.shape
    y = np.zeros((length, directions, count, hidden))
    last = np.zeros(before.shape)
    lengths = lengths_of(inputs["sequence_lens"], count, length)
    clip = np.float32(params["clip"]) or np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        for direction, batch in np.ndindex(directions, count):
            function = FUNCTIONS[params["activations"].split(",")[direction]]
            bias = b[direction, :hidden] + b[direction, hidden:]
            state = before[direction, batch]
            order = range(lengths[batch])
            if direction == 1 or params["direction"] == "reverse":
                order = order[::-1]
            for i in order:
                total = w[direction] @ x[i, batch] + r[direction] @ state + bias
                state = function(np.clip(total, -clip, clip))
                y[i, direction, batch] = last[direction, batch] = state
    if params["layout"]:
        y, last = y.transpose(2, 0, 1, 3), last.swapaxes(0, 1)
    return {"y": y.astype(inputs["x"].dtype), "y_h": last.astype(inputs["x"].dtype)}
