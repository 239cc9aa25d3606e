"""Attention, as the products and the softmax that it fuses."""

from __future__ import annotations

from typing import Any

import numpy as np

from rknn_op.models.rewriting.form import (
    Array,
    Builder,
    ConditionError,
    Value,
    constant,
    form,
    sizes,
)

_REMOVED = -30000.0
"""What a mask adds to the score of a key without weight; float16 has it, and e^x of it is 0."""


@form("Attention", first=True)
def products_and_softmax(
    op: Builder,
    q: Value,
    k: Value,
    v: Value,
    attn_mask: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    *,
    is_causal: int,
    kv_num_heads: int | None,
    left_window_size: int | None,
    q_num_heads: int | None,
    qk_matmul_output_mode: int,
    right_window_size: int | None,
    scale: float | None,
    softcap: float,
    softmax_precision: int | None,
) -> tuple[Value, Value, Value]:
    """MatMul of queries and keys, Softmax, MatMul with the values."""
    del qk_matmul_output_mode, softmax_precision  # of an output and of sums that the form lacks
    shape = sizes(q)
    q = _by_heads(op, q, q_num_heads)
    k, v = (_by_heads(op, each, kv_num_heads) for each in (k, v))
    if past_key is not None:
        k, v = op.Concat(past_key, k, axis=2), op.Concat(past_value, v, axis=2)
    batch, heads, queries, features = sizes(q)
    kv_heads, keys = sizes(k)[1:3]
    factor = features**-0.5 if scale is None else scale
    # Heads that share keys are more queries of these.
    grouped = op.Reshape(
        op.Mul(q, factor), [batch, kv_heads, heads // kv_heads * queries, features]
    )
    scores = op.MatMul(grouped, op.Transpose(k, perm=[0, 1, 3, 2]))
    scores = op.Reshape(scores, [batch, heads, queries, keys])
    if softcap:
        scores = op.Mul(op.Tanh(op.Div(scores, softcap)), softcap)
    if attn_mask is not None:
        if sizes(attn_mask)[-1] not in (1, keys):
            raise ConditionError("the mask has fewer keys")
        scores = op.Add(scores, _added(op, attn_mask, scores.dtype))
    first = sizes(past_key)[2] if past_key is not None else 0
    distance = np.arange(keys) - np.arange(first, first + queries)[:, None]
    left, right = (
        np.inf if size is None or size < 0 else size
        for size in (left_window_size, right_window_size)
    )
    is_seen = (-left <= distance) & (distance <= (0 if is_causal else right))
    if not is_seen.all():
        scores = op.Add(scores, _removed(op, is_seen, scores.dtype))
    weights = op.Softmax(scores, axis=-1)
    weights = op.Reshape(weights, [batch, kv_heads, heads // kv_heads * queries, keys])
    y = op.MatMul(weights, v)
    y = op.Reshape(y, [batch, heads, queries, sizes(v)[3]])
    if len(shape) == 3:
        y = op.Reshape(op.Transpose(y, perm=[0, 2, 1, 3]), [batch, queries, heads * sizes(v)[3]])
    return y, k, v


def _by_heads(op: Builder, value: Value, heads: int | None) -> Value:
    """Return a tensor as [batch, heads, rows, features]."""
    shape = sizes(value)
    if len(shape) == 4:
        return value
    if not heads:
        raise ConditionError(f"{value.name} has 3 dimensions, and the node no count of heads")
    parts = op.Reshape(value, [*shape[:2], heads, shape[2] // heads])
    return op.Transpose(parts, perm=[0, 2, 1, 3])


def _removed(op: Builder, is_seen: Array, dtype: Any) -> Value:
    """Return what to add to scores, so that a softmax removes some keys.

    Raises:
        ConditionError: a query keeps no key: its result is 0, and that of a softmax is not.
    """
    if not is_seen.any(-1).all():
        raise ConditionError("a mask removes all keys of a query")
    return op.constant(np.where(is_seen, 0.0, _REMOVED).astype(dtype.numpy()))


def _added(op: Builder, mask: Value, dtype: Any) -> Value:
    """Return a mask as what to add to scores; one of bool must keep a key for each query."""
    if mask.dtype.numpy() != np.bool_:
        return mask
    if mask.const_value is not None:
        return _removed(op, constant(mask), dtype)
    return op.Mul(op.Sub(1.0, op.Cast(mask, to=dtype)), _REMOVED)
