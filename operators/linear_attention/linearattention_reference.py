"""LinearAttention in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

The recurrence of the ONNX specification of LinearAttention, position by position, in float64. A
head has a state, a matrix of keys x values. At each position,

* the decay multiplies its rows (gated, gated_delta);
* the value becomes beta * (value - the state's value for the key) (delta, gated_delta);
* the outer product of key and value is added to it;
* the output is the query times the state, times the scale.

ONNX's past_state, decay and beta are optional. Here they are zeros, zeros and ones then; a rule
without decay or beta does not read it.
"""

import numpy as np

MAX_KEYS = 512


def query_heads(query, key, params):
    """Return the heads of query, from its shape and that of key.

    librknnrt 1.6.0 hands over no attribute whose name begins with q_: without it, the heads have
    the size of those of key.
    """
    size = key[2] // params["kv_num_heads"] if len(key) == 3 else 0
    is_given = params["q_num_heads"] != 0 or len(query) != 3 or size == 0
    return params["q_num_heads"] if is_given else query[2] // size


def sizes_of(shapes, params):
    """Return the sizes of key and value of a head."""
    states = params["kv_num_heads"]
    query, key, value = (tuple(shapes[name]) for name in ("query", "key", "value"))
    heads = query_heads(query, key, params)
    if heads < 1 or heads % states:
        raise ValueError(
            "LinearAttention: q_num_heads must be a multiple of kv_num_heads, "
            f"not {heads} of {states}"
        )
    if len(query) != 3 or query[2] % heads or not 1 <= query[2] // heads <= MAX_KEYS:
        raise ValueError(
            "LinearAttention: query must be [N, S, q_num_heads * key size], with keys of 1 to "
            f"{MAX_KEYS} elements, not {query}"
        )
    rows, size = query[:2], query[2] // heads
    if key != (*rows, states * size):
        raise ValueError(f"LinearAttention: key must be [N, S, kv_num_heads * key size], not {key}")
    if value[:2] != rows or len(value) != 3 or value[2] % states:
        raise ValueError(
            f"LinearAttention: value must be [N, S, kv_num_heads * value size], not {value}"
        )
    return size, value[2] // states


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: chunk_size, kv_num_heads and q_num_heads, ints; scale, a
        float; update_rule, a str.
    """
    size, value_size = sizes_of(input_shapes, params)
    count, length, _ = input_shapes["query"]
    states = params["kv_num_heads"]
    past, decay, beta = (tuple(input_shapes[name]) for name in ("past_state", "decay", "beta"))
    if past != (count, states, size, value_size):
        raise ValueError(
            "LinearAttention: past_state must be [N, kv_num_heads, key size, value size], "
            f"not {past}"
        )
    if decay not in ((count, length, states), (count, length, states * size)):
        raise ValueError(
            "LinearAttention: decay must be [N, S, kv_num_heads] or "
            f"[N, S, kv_num_heads * key size], not {decay}"
        )
    if beta not in ((count, length, states), (count, length, 1)):
        raise ValueError(
            f"LinearAttention: beta must be [N, S, kv_num_heads] or [N, S, 1], not {beta}"
        )
    return {
        "output": (count, length, input_shapes["query"][2] // size * value_size),
        "present_state": past,
    }


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    if any(array.dtype.kind != "f" for array in inputs.values()):
        raise ValueError("LinearAttention: all tensors must be float16 or float32")
    shapes = output_shapes({name: array.shape for name, array in inputs.items()}, params)
    size, value_size = sizes_of({name: array.shape for name, array in inputs.items()}, params)
    count, length, _ = inputs["query"].shape
    states, rule = params["kv_num_heads"], params["update_rule"]
    scale = params["scale"] or 1 / np.sqrt(size)

    def heads(name, *shape):
        return inputs[name].astype(np.float64).reshape(count, length, *shape)

    query = heads("query", states, inputs["query"].shape[2] // size // states, size)
    key, value = heads("key", states, size, 1), heads("value", states, 1, value_size)
    decay = heads("decay", states, inputs["decay"].shape[2] // states, 1)
    beta = heads("beta", inputs["beta"].shape[2], 1, 1)
    state = inputs["past_state"].astype(np.float64)
    rows = np.zeros((count, length, states, query.shape[3], value_size))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for i in range(length):
            added = value[:, i]
            if rule in ("gated", "gated_delta"):
                state = state * np.exp(decay[:, i])
            if rule in ("delta", "gated_delta"):
                added = beta[:, i] * (added - key[:, i].swapaxes(-1, -2) @ state)
            state = state + key[:, i] * added
            rows[:, i] = scale * (query[:, i] @ state)
        return {
            "output": rows.reshape(shapes["output"]).astype(inputs["query"].dtype),
            "present_state": state.astype(inputs["past_state"].dtype),
        }
