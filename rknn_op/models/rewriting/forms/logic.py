"""Operators with booleans."""

from __future__ import annotations

from math import inf

from onnx import TensorProto

from rknn_op.models.rewriting.form import Builder, ConditionError, Value, form


@form("Or")
def logical_or(op: Builder, a: Value, b: Value) -> Value:
    """Add between Cast."""
    numbers = (op.Cast(each, to=TensorProto.FLOAT) for each in (a, b))
    return op.Cast(op.Add(*numbers), to=TensorProto.BOOL)


@form("Xor")
def logical_xor(op: Builder, a: Value, b: Value) -> Value:
    """Equal and Not."""
    return op.Not(op.Equal(a, b))


@form("IsNaN")
def is_nan(op: Builder, x: Value) -> Value:
    """Equal with itself and Not."""
    return op.Not(op.Equal(x, x))


@form("IsInf")
def is_inf(op: Builder, x: Value, *, detect_negative: int, detect_positive: int) -> Value:
    """Equal with infinity; Abs before, for both."""
    if not detect_negative and not detect_positive:
        raise ConditionError("detect_negative and detect_positive are 0 (expected one of them)")
    if detect_negative and detect_positive:
        return op.Equal(op.Abs(x), inf)
    return op.Equal(x, inf if detect_positive else -inf)
