"""GroupQueryAttention in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

As onnxruntime documents its operator of that name, of the domain com.microsoft, in float64: sums of
values, weighted by the softmax of the scores of their keys. A batch has seqlens_k + 1 keys: the
first rows of past_key, then those of key. Where onnxruntime leaves it open:

* A batch with fewer keys than queries has no past: its last queries and keys are padding. They are
  computed as the others are.
* Rows of present_key and present_value behind the keys of a batch are zeros.
* Inputs that a model leaves out have the shape [1]; a head_sink is -65504 then, whose weight is 0.
"""

import numpy as np

MAX_FEATURES = 768


def layout(shapes, params):
    """Return the size of a head, and the rows of past_key and of present_key."""
    query, key, value, past_key, past_value, bias = (
        tuple(shapes[name])
        for name in ("query", "key", "value", "past_key", "past_value", "attention_bias")
    )
    heads, kv_heads = params["num_heads"], params["kv_num_heads"]
    total = params["total_sequence_length"]
    if heads % kv_heads:
        raise ValueError("GroupQueryAttention: num_heads must be a multiple of kv_num_heads")
    parts = heads + (2 * kv_heads if key == (1,) else 0)
    if len(query) != 3 or query[2] % parts:
        raise ValueError(
            "GroupQueryAttention: query must be [N, S, heads * size]: num_heads, and twice "
            "kv_num_heads without key"
        )
    batches, rows, size = query[0], query[1], query[2] // parts
    if not 1 <= size <= MAX_FEATURES:
        raise ValueError("GroupQueryAttention: heads must have 1 to 768 features")
    if [key, value] not in ([(1,), (1,)], [(batches, rows, kv_heads * size)] * 2):
        raise ValueError(
            "GroupQueryAttention: key and value must be [N, S, kv_num_heads * size], or both be "
            "left out: [1]"
        )
    past = past_key[2] if len(past_key) == 4 else 0
    if [past_key, past_value] not in ([(1,), (1,)], [(batches, kv_heads, past, size)] * 2):
        raise ValueError(
            "GroupQueryAttention: past_key and past_value must be [N, kv_num_heads, P, size], or "
            "both be left out: [1]"
        )
    if total < rows or (total > past and total != past + rows):
        raise ValueError("GroupQueryAttention: total_sequence_length must be from S to P, or P + S")
    if np.prod(shapes["seqlens_k"]) != batches:
        raise ValueError("GroupQueryAttention: seqlens_k must be [N]")
    cosines, sines = tuple(shapes["cos_cache"]), tuple(shapes["sin_cache"])
    is_whole = len(cosines) == 2 and 1 <= cosines[1] <= size // 2
    if cosines != sines or not (is_whole or (cosines == (1,) and not params["do_rotary"])):
        raise ValueError(
            "GroupQueryAttention: cos_cache and sin_cache must be [rows, pairs of features]"
        )
    if tuple(shapes["position_ids"]) not in ((1,), (batches, rows)):
        raise ValueError("GroupQueryAttention: position_ids must be [N, S]")
    if params["local_window_size"] == 0:
        raise ValueError("GroupQueryAttention: local_window_size must be -1 or above 0")
    if bias not in {(1,), *((n, m, rows, total) for n in (1, batches) for m in (1, heads))}:
        raise ValueError(
            "GroupQueryAttention: attention_bias must be "
            "[N or 1, num_heads or 1, S, total_sequence_length]"
        )
    if tuple(shapes["head_sink"]) not in ((1,), (heads,)):
        raise ValueError("GroupQueryAttention: head_sink must be [num_heads]")
    return size, past, max(total, past)


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: scale and softcap, floats; the others, ints.
    """
    size, _, keys = layout(input_shapes, params)
    batches, rows = input_shapes["query"][:2]
    present = (batches, params["kv_num_heads"], keys, size)
    return {
        "output": (batches, rows, params["num_heads"] * size),
        "present_key": present,
        "present_value": present,
    }


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    dtypes = {"seqlens_k": np.int32, "position_ids": np.int64}
    if any(array.dtype.kind != "f" for name, array in inputs.items() if name not in dtypes):
        raise ValueError(
            "GroupQueryAttention: all tensors but seqlens_k and position_ids must be float16 or "
            "float32"
        )
    for name, dtype in dtypes.items():
        if inputs[name].dtype != dtype:
            raise ValueError(f"GroupQueryAttention: {name} must be {np.dtype(dtype)}")
    shapes = output_shapes({name: array.shape for name, array in inputs.items()}, params)
    heads, kv_heads = params["num_heads"], params["kv_num_heads"]
    batches, rows, columns = shapes["output"]
    used = inputs["seqlens_k"].reshape(-1).astype(np.int64) + 1
    if np.any((used < 1) | (used > params["total_sequence_length"])):
        raise ValueError(
            "GroupQueryAttention: seqlens_k must be from 0 to total_sequence_length - 1"
        )
    before = np.maximum(used - rows, 0)
    size = columns // heads
    if inputs["key"].ndim == 3:
        tokens = [inputs[name] for name in ("query", "key", "value")]
    else:
        tokens = np.split(inputs["query"], [columns, columns + kv_heads * size], axis=2)
    q, k, v = (
        each.reshape(batches, rows, each.shape[2] // size, size).swapaxes(1, 2) for each in tokens
    )
    with np.errstate(all="ignore"):
        if params["do_rotary"]:
            q, k = (rotated(each, before, inputs, params) for each in (q, k))
        present = {
            f"present_{name}": joined(inputs[f"past_{name}"], new, before, shapes["present_key"])
            for name, new in (("key", k), ("value", v))
        }
        weights = weighed(q, present["present_key"], used, before, inputs, params)
        values = np.repeat(present["present_value"], heads // kv_heads, axis=1)
        y = weights @ values.astype(np.float64)
    return {"output": y.swapaxes(1, 2).reshape(shapes["output"]).astype(q.dtype), **present}


def rotated(tokens, before, inputs, params):
    """Return queries or keys, [N, heads, S, size], with the first features rotated in pairs."""
    ids, rows = inputs["position_ids"], np.arange(tokens.shape[2])
    if ids.shape == (1,):
        ids = before[:, np.newaxis] + rows
    elif params["total_sequence_length"] == len(rows) and ids.size:
        ids = np.broadcast_to(ids[0, 0] + rows, ids.shape)
    if np.any((ids < 0) | (ids >= len(inputs["cos_cache"]))):
        raise ValueError("GroupQueryAttention: positions must be rows of cos_cache")
    cosines, sines = (
        inputs[name].astype(np.float64)[ids][:, np.newaxis] for name in ("cos_cache", "sin_cache")
    )
    pairs = cosines.shape[-1]
    y = np.array(tokens, np.float64)
    if params["rotary_interleaved"]:
        first, second = y[..., 0 : 2 * pairs : 2], y[..., 1 : 2 * pairs : 2]
    else:
        first, second = y[..., :pairs], y[..., pairs : 2 * pairs]
    turned = cosines * first - sines * second, sines * first + cosines * second
    first[...], second[...] = turned
    return y.astype(tokens.dtype)


def joined(past, new, before, shape):
    """Return the used rows of the past, then the new ones, then zeros."""
    y = np.zeros(shape, new.dtype)
    for batch, count in enumerate(before):
        if count:
            y[batch, :, :count] = past[batch, :, :count]
        y[batch, :, count : count + new.shape[2]] = new[batch]
    return y


def weighed(q, keys, used, before, inputs, params):
    """Return the weights of the keys, [N, heads, S, keys]."""
    heads, kv_heads = params["num_heads"], params["kv_num_heads"]
    keys = np.repeat(keys, heads // kv_heads, axis=1).astype(np.float64)
    scale = np.float64(np.float32(params["scale"])) or 1 / np.sqrt(q.shape[3])
    scores = q.astype(np.float64) @ keys.swapaxes(2, 3) * scale
    if params["softcap"] > 0:
        softcap = np.float64(np.float32(params["softcap"]))
        scores = softcap * np.tanh(scores / softcap)
    if inputs["attention_bias"].ndim == 4:
        total = params["total_sequence_length"]
        scores[..., :total] += inputs["attention_bias"]
    used, before = (each.reshape(-1, 1, 1, 1) for each in (used, before))
    key = np.arange(scores.shape[3])
    position = before + np.arange(scores.shape[2])[:, np.newaxis]
    is_taken = key < np.broadcast_to(used, (len(used), 1, scores.shape[2], 1))
    if params["causal"]:
        is_taken = is_taken & (key <= position)
    if params["local_window_size"] > 0:
        is_taken = is_taken & (key > position - params["local_window_size"])
    scores = np.where(is_taken & (scores != -np.inf), scores, -np.inf)
    sinks = inputs["head_sink"].astype(np.float64)
    if sinks.shape == (1,) and sinks[0] <= -65504:
        sinks = np.array([0.0 if params["smooth_softmax"] == 1 else -np.inf])
    sinks = sinks[:, np.newaxis, np.newaxis]
    largest = np.maximum(np.max(scores, axis=3, keepdims=True, initial=-np.inf), sinks)
    largest = np.where(largest == -np.inf, 0, largest)
    weights = np.exp(scores - largest)
    total = np.sum(weights, axis=3, keepdims=True) + np.exp(sinks - largest)
    return weights / np.where(total == 0, 1, total)
