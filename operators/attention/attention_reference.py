"""Attention in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Sums of values, weighted by the softmax of the scores of their keys, as in the ONNX specification of
Attention, in float64. Where the specification is open:

* A key that a mask removes, and any key of weight 0, does not count, also if it is not finite.
* Inputs that a model leaves out have the shape [1]: attn_mask has no effect then, and
  nonpad_kv_seqlen is -1.
* For outputs that a model leaves out, has_present is 0: present_key and present_value are [1] then.
* The precision of the softmax is float64 here, and float32 in kernels, whatever softmax_precision.
"""

import numpy as np

MAX_FEATURES = 768
USED = "nonpad_kv_seqlen"


def read_heads(shape, heads):
    """Return the heads, rows and features of q, k or v."""
    if len(shape) == 4:
        fits = heads in (0, shape[1])
        sizes = shape[1:]
    else:
        fits = heads > 0 and shape[2] % heads == 0
        sizes = (heads, shape[1], shape[2] // heads) if fits else ()
    if not fits:
        raise ValueError(
            "Attention: q_num_heads and kv_num_heads must divide the last dimension of q, k and v "
            "of 3 dimensions; of 4, they must be 0 or the second one"
        )
    return sizes


def query_heads(q, k, params):
    """Return the heads of q for read_heads(), from the shapes of q and k.

    librknnrt 1.6.0 hands over no attribute whose name begins with q_: without it, q of 3 dimensions
    has heads of the size of k's.
    """
    given, kv_heads = params["q_num_heads"], params["kv_num_heads"]
    size = k[2] // kv_heads if kv_heads > 0 else 0
    return q[2] // size if len(q) == 3 and given == 0 and size > 0 else given


def check_params(params):
    """Refuse params that no call can have."""
    if params["has_present"] not in (0, 1):
        raise ValueError("Attention: has_present must be 0 or 1")
    if params["is_causal"] not in (0, 1):
        raise ValueError("Attention: is_causal must be 0 or 1")
    if params["left_window_size"] < -1 or params["right_window_size"] < -1:
        raise ValueError("Attention: left_window_size and right_window_size must be -1 or above")
    if params["qk_matmul_output_mode"] not in range(4):
        raise ValueError("Attention: qk_matmul_output_mode must be from 0 to 3")
    if not params["softcap"] >= 0:
        raise ValueError("Attention: softcap must be 0 or above")
    if params["softmax_precision"] not in (0, 1, 10, 11, 16):
        raise ValueError("Attention: softmax_precision must be 0, 1, 10, 11 or 16")


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: scale and softcap, floats; the others, ints.
    """
    check_params(params)
    q, k, v, mask, past_key, past_value, used = (
        tuple(input_shapes[name])
        for name in ("q", "k", "v", "attn_mask", "past_key", "past_value", USED)
    )
    if len(q) not in (3, 4) or len(k) != len(q) or len(v) != len(q):
        raise ValueError("Attention: q, k and v must have 3 dimensions, or 4")
    heads, queries, features = read_heads(q, query_heads(q, k, params))
    kv_heads, rows, key_features = read_heads(k, params["kv_num_heads"])
    value_heads, values, value_features = read_heads(v, params["kv_num_heads"])
    if kv_heads == 0 or heads % kv_heads:
        raise ValueError("Attention: the heads of q must be a multiple of those of k")
    if (k[0], key_features) != (q[0], features):
        raise ValueError("Attention: k must have the batches and the head size of q")
    if (v[0], value_heads, values) != (q[0], kv_heads, rows):
        raise ValueError("Attention: v must have the batches, heads and rows of k")
    if features < 1 or max(features, value_features) > MAX_FEATURES:
        raise ValueError("Attention: heads must have 1 to 768 features")
    past = past_key[2] if len(past_key) == 4 else 0
    whole = [(q[0], kv_heads, past, size) for size in (features, value_features)]
    if [past_key, past_value] not in ([(1,), (1,)], whole):
        raise ValueError(
            "Attention: past_key and past_value must be [N, kv heads, P, size], or both be left "
            "out: [1]"
        )
    if len(mask) > 4:
        raise ValueError("Attention: attn_mask must have at most 4 dimensions")
    if not params["has_present"] and (len(q) != 4 or past_key != (1,)):
        raise ValueError(
            "Attention: has_present must be 1 with past_key, and for q of 3 dimensions"
        )
    sides = (q[0], heads, queries)[3 - len(mask[:-1]) :]
    if (mask[-1] > rows + past and mask != (1,)) or any(
        given not in (1, side) for given, side in zip(mask[:-1], sides, strict=True)
    ):
        raise ValueError(
            "Attention: attn_mask must broadcast to [N, heads, Q, keys]; it may have fewer keys"
        )
    if used not in ((1,), q[:1]):
        raise ValueError("Attention: nonpad_kv_seqlen must be [N]")
    present = (q[0], kv_heads, past + rows)
    return {
        "y": (*q[:3], value_features) if len(q) == 4 else (*q[:2], heads * value_features),
        "present_key": (*present, features) if params["has_present"] else (1,),
        "present_value": (*present, value_features) if params["has_present"] else (1,),
    }


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    floats = [array for name, array in inputs.items() if name not in ("attn_mask", USED)]
    if any(array.dtype.kind != "f" for array in floats):
        raise ValueError(
            "Attention: q, k, v, past_key, past_value and the outputs must be float16 or float32"
        )
    if inputs["attn_mask"].dtype.kind not in "fb":
        raise ValueError("Attention: attn_mask must be float16, float32 or bool")
    if inputs[USED].dtype != np.int64:
        raise ValueError("Attention: nonpad_kv_seqlen must be int64")
    shapes = output_shapes({name: array.shape for name, array in inputs.items()}, params)
    q = by_head(inputs["q"], query_heads(inputs["q"].shape, inputs["k"].shape, params))
    k, v = (by_head(inputs[name], params["kv_num_heads"]) for name in "kv")
    if inputs["past_key"].ndim == 4:
        k = np.concatenate([inputs["past_key"], k], axis=2)
        v = np.concatenate([inputs["past_value"], v], axis=2)
    present = {"present_key": k, "present_value": v}
    if not params["has_present"]:
        present = {name: np.zeros(1, k.dtype) for name in present}
    group = q.shape[1] // k.shape[1]
    with np.errstate(all="ignore"):
        scores = q.astype(np.float64) @ np.repeat(k, group, axis=1).swapaxes(2, 3).astype(
            np.float64
        )
        scale = params["scale"]
        scores *= 1 / np.sqrt(q.shape[3]) if scale < 0 else np.float32(scale)
        if params["softcap"] > 0:
            softcap = np.float64(np.float32(params["softcap"]))
            scores = softcap * np.tanh(scores / softcap)
        scores = masked(scores, inputs, params)
        largest = np.max(scores, axis=3, keepdims=True, initial=-np.inf)
        weights = np.exp(scores - np.where(largest == -np.inf, 0, largest))
        total = np.sum(weights, axis=3, keepdims=True)
        y = weighted(weights, np.repeat(v, group, axis=1)) / np.where(total == 0, 1, total)
    if inputs["q"].ndim == 3:
        y = y.swapaxes(1, 2)
    return {"y": y.reshape(shapes["y"]).astype(q.dtype), **present}


def by_head(array, heads):
    """Return q, k or v as [N, heads, rows, features]."""
    if array.ndim == 4:
        return array
    return array.reshape(*array.shape[:2], heads, array.shape[2] // heads).swapaxes(1, 2)


def masked(scores, inputs, params):
    """Return the scores with attn_mask; those of keys that a query does not take are -inf."""
    batches, _, queries, keys = scores.shape
    used, mask = inputs[USED], inputs["attn_mask"]
    past = inputs["past_key"].shape[2] if inputs["past_key"].ndim == 4 else 0
    offset = np.full(batches, past)
    if used.tolist() == [-1]:
        used = np.full(batches, keys)
    elif used.shape != (batches,):
        raise ValueError("Attention: nonpad_kv_seqlen must be [N]")
    elif past:
        raise ValueError("Attention: nonpad_kv_seqlen must be left out, [1] of -1, with past_key")
    elif np.any((used < 0) | (used > keys)):
        raise ValueError("Attention: nonpad_kv_seqlen must be from 0 to the count of keys")
    else:
        offset = used - queries
    key = np.arange(keys)
    position = (np.arange(queries) + offset[:, np.newaxis])[:, np.newaxis, :, np.newaxis]
    is_taken = np.broadcast_to(key < used.reshape(-1, 1, 1, 1), (batches, 1, queries, keys))
    if params["is_causal"]:
        is_taken = is_taken & (key <= position)
    if params["left_window_size"] >= 0:
        is_taken = is_taken & (key >= position - params["left_window_size"])
    if params["right_window_size"] >= 0:
        is_taken = is_taken & (key <= position + params["right_window_size"])
    if mask.shape == (1,):
        return np.where(is_taken, scores, -np.inf)
    is_taken = is_taken & (key < mask.shape[-1])
    mask = np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, keys - mask.shape[-1])])
    if mask.dtype == bool:
        return np.where(is_taken & mask, scores, -np.inf)
    return np.where(is_taken & (mask != -np.inf), scores + mask, -np.inf)


def weighted(weights, values):
    """Return the sums of weighted values, without those of weight 0."""
    is_finite = np.isfinite(values)
    sums = weights @ np.where(is_finite, values, 0).astype(np.float64)
    if is_finite.all():
        return sums
    counts = (weights.astype(np.float32) != 0).astype(np.float64)
    for each in (np.inf, -np.inf):
        sums[counts @ (values == each) > 0] += each
    sums[counts @ np.isnan(values) > 0] = np.nan
    return np.where(np.isnan(weights).any(axis=3, keepdims=True), np.nan, sums)
