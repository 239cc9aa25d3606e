"""Rounding and signs."""

from __future__ import annotations

from onnx import TensorProto

from rknn_op.models.rewriting.form import Builder, Value, form

_FACTOR = 2.0**15
"""Applied twice, it is above the inverse of the smallest float16; once, it does not overflow."""


def step(op: Builder, x: Value, low: float, high: float) -> Value:
    """Return the sign of x, clipped to low and high; comparisons run on the CPU of most chips."""
    for _ in range(2):
        x = op.Mul(op.Clip(x, min=low, max=high), _FACTOR)
    return op.Clip(x, min=low, max=high)


@form("Ceil")
def ceil(op: Builder, x: Value) -> Value:
    """Floor between two Neg."""
    return op.Neg(op.Floor(op.Neg(x)))


@form("Sign")
def sign(op: Builder, x: Value) -> Value:
    """Clip and Mul; Clip alone for integers."""
    if x.dtype.is_floating_point():
        return step(op, x, -1.0, 1.0)
    return op.Clip(x, min=-1, max=1)


@form("Mod")
def mod(op: Builder, a: Value, b: Value, *, fmod: int) -> Value:
    """Div, Floor, Mul and Sub, in floats; with fmod, Cast in place of Floor."""
    is_float = a.dtype.is_floating_point()
    x, y = (a, b) if is_float else (op.Cast(each, to=TensorProto.FLOAT) for each in (a, b))
    quotient = op.Div(x, y)
    if fmod:
        whole = op.Cast(op.Cast(quotient, to=TensorProto.INT32), to=int(x.dtype))
    else:
        whole = op.Floor(quotient)
    rest = op.Sub(x, op.Mul(whole, y))
    return rest if is_float else op.Cast(rest, to=int(a.dtype))
