"""Activations."""

from __future__ import annotations

from math import pi, sqrt

from rknn_op.models.rewriting.form import Builder, ConditionError, Value, form
from rknn_op.models.rewriting.forms.rounding import step


@form("Selu", first=True)
def selu(op: Builder, x: Value, *, alpha: float, gamma: float) -> Value:
    """Elu and Mul."""
    return op.Mul(op.Elu(x, alpha=alpha), gamma)


@form("Softsign", first=True)
def softsign(op: Builder, x: Value) -> Value:
    """Abs, Add and Div."""
    return op.Div(x, op.Add(op.Abs(x), 1.0))


@form("ThresholdedRelu", first=True)
def thresholded_relu(op: Builder, x: Value, *, alpha: float) -> Value:
    """Mul with a step of Clip and Mul."""
    return op.Mul(x, step(op, op.Sub(x, alpha), 0.0, 1.0))


@form("Shrink", first=True)
def shrink(op: Builder, x: Value, *, bias: float, lambd: float) -> Value:
    """Clip and Sub; also a step of Clip and Mul, if bias is not lambd."""
    if not x.dtype.is_floating_point():
        raise ConditionError(f"{x.name} is {x.dtype.numpy()} (expected floats)")
    if lambd < 0:
        raise ConditionError(f"lambd is {lambd:g} (expected 0 or more)")
    rest = op.Sub(x, op.Clip(x, min=-lambd, max=lambd))
    if bias == lambd:
        return rest
    return op.Add(rest, op.Mul(step(op, rest, -1.0, 1.0), lambd - bias))


@form("Gelu", first=True)
def gelu(op: Builder, x: Value, *, approximate: str) -> Value:
    """Div, Erf, Add and Mul, which a converter can fuse to one Gelu."""
    if approximate != "none":
        raise ConditionError(f"approximate is {approximate} (expected none)")
    return op.Mul(x, op.Mul(op.Add(op.Erf(op.Div(x, sqrt(2))), 1.0), 0.5))


@form("Gelu", first=True)
def gelu_tanh(op: Builder, x: Value, *, approximate: str) -> Value:
    """Sigmoid of a polynomial."""
    if approximate != "tanh":
        raise ConditionError(f"approximate is {approximate} (expected tanh)")
    factor = 2 * sqrt(2 / pi)
    small = op.Clip(x, min=-10.0, max=10.0)  # beyond, Sigmoid is 0 or 1, and a power overflows
    inner = op.Add(op.Mul(op.Mul(small, 0.044715 * factor), small), factor)
    return op.Mul(x, op.Sigmoid(op.Mul(small, inner)))
