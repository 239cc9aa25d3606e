"""RotaryEmbedding in numpy: the reference for every kernel; RKNN-Toolkit2 runs it, too.

Rotates pairs of features by angles, as in the ONNX specification of RotaryEmbedding, in float64.
ONNX's position_ids is optional: without it, the caches have 3 dimensions, with a row for each
position. Here it is 0 then.
"""

import numpy as np


def layout(shapes, params):
    """Return the numbers of heads and pairs, and the size of a head."""
    x, cache = tuple(shapes["x"]), tuple(shapes["cos_cache"])
    heads, rotated = params["num_heads"], params["rotary_embedding_dim"]
    if len(x) not in (3, 4):
        raise ValueError(
            "RotaryEmbedding: x must be [N, heads, S, head size] or [N, S, heads * head size]"
        )
    if len(x) == 3 and (heads < 1 or x[2] % heads):
        raise ValueError(
            "RotaryEmbedding: num_heads must be above 0, and divide the last dimension of x, "
            f"not {heads}"
        )
    if len(x) == 4 and heads not in (0, x[1]):
        raise ValueError(f"RotaryEmbedding: num_heads must be 0 or that of x, {x[1]}, not {heads}")
    size = x[3] if len(x) == 4 else x[2] // heads
    if rotated < 0 or rotated > size or (rotated or size) % 2:
        raise ValueError(
            "RotaryEmbedding: rotary_embedding_dim must be even, from 0 to the size of a head, "
            f"{size}, and not 0 if that is odd; not {rotated}"
        )
    pairs = (rotated or size) // 2
    positions = x[0], x[-2]
    if cache not in ((*positions, pairs), (*cache[:1], pairs)):
        raise ValueError(
            f"RotaryEmbedding: cos_cache must be [rows, {pairs}] or [N, S, {pairs}], not {cache}"
        )
    if tuple(shapes["sin_cache"]) != cache:
        raise ValueError("RotaryEmbedding: sin_cache must have the shape of cos_cache")
    if tuple(shapes["position_ids"]) != positions:
        raise ValueError(f"RotaryEmbedding: position_ids must be [N, S], {positions}")
    return x[1] if len(x) == 4 else heads, pairs, size


def output_shapes(input_shapes, params):
    """Return the shape of each output.

    input_shapes: dict of input name -> shape, slowest dimension first.
    params: dict of param name -> value: interleaved, num_heads and rotary_embedding_dim, ints.
    """
    layout(input_shapes, params)
    return {"y": tuple(input_shapes["x"])}


def rows_of_positions(inputs):
    """Return the cosines and sines of each position: [N, 1, S, pairs]."""
    ids = inputs["position_ids"]
    caches = [inputs[name].astype(np.float64) for name in ("cos_cache", "sin_cache")]
    if caches[0].ndim == 3:
        if np.any(ids != 0):
            raise ValueError(
                "RotaryEmbedding: position_ids must be 0 with caches of 3 dimensions, "
                "which have a row for each position"
            )
    elif np.any((ids < 0) | (ids >= len(caches[0]))):
        raise ValueError(
            "RotaryEmbedding: position_ids must be rows of the caches, from 0 to "
            f"{len(caches[0]) - 1}"
        )
    else:
        caches = [cache[ids] for cache in caches]
    return [cache[:, np.newaxis] for cache in caches]


def reference(inputs, params):
    """Return the array of each output.

    inputs: dict of input name -> array; half-precision tensors arrive as float32.
    params: as above.
    """
    x = inputs["x"]
    if any(inputs[name].dtype.kind != "f" for name in ("x", "cos_cache", "sin_cache")):
        raise ValueError(
            "RotaryEmbedding: x, cos_cache, sin_cache and y must be float16 or float32"
        )
    heads, pairs, size = layout({name: inputs[name].shape for name in inputs}, params)
    if params["interleaved"] not in (0, 1):
        raise ValueError(
            f"RotaryEmbedding: interleaved must be 0 or 1, not {params['interleaved']}"
        )
    cosines, sines = rows_of_positions(inputs)
    y = np.array(x, np.float64, order="C")
    # Views: [N, heads, S, head size], and both partners of each pair.
    tokens = y if x.ndim == 4 else y.reshape(*x.shape[:2], heads, size).swapaxes(1, 2)
    rotated = tokens[..., : 2 * pairs]
    if params["interleaved"]:
        first, second = rotated[..., 0::2], rotated[..., 1::2]
    else:
        first, second = rotated[..., :pairs], rotated[..., pairs:]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        turned = cosines * first - sines * second, sines * first + cosines * second
        first[...], second[...] = turned
        return {"y": y.astype(x.dtype)}
