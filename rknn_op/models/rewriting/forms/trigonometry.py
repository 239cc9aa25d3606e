"""Trigonometric and hyperbolic functions.

An odd function is a polynomial up to a knee, so that small numbers keep their digits, and beyond it
the polynomial's last value and a tail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import log, pi

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from rknn_op.models.rewriting.form import Array, Builder, Value, form

POLYNOMIAL = 1e-3
"""Tolerated difference of polynomials in float32."""

_STEEPNESS = 2.0**13


def _fit(function: Callable[[Array], Array], knee: float, degree: int) -> list[float]:
    """Return the coefficients of x, x**3, x**5, ... for an odd function up to a knee."""

    def even(square: Array) -> Array:
        return function(np.sqrt(square)) / np.sqrt(square)

    fitted = Chebyshev.interpolate(even, (degree - 1) // 2, domain=[0, knee**2])
    return [float(each) for each in fitted.convert(kind=Polynomial).coef]


_ATAN = _fit(np.arctan, 1.0, 7)
_ASINH = _fit(np.arcsinh, 1.0, 7)
_ATANH = _fit(np.arctanh, 0.5, 5)
_SINH = _fit(np.sinh, 1.0, 5)


def _odd(op: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    """Return the odd polynomial with coefficients of x, x**3, x**5, ..."""
    square = op.Mul(x, x)
    *others, result = coefficients
    total: Value | float = result
    for each in reversed(others):
        total = op.Add(op.Mul(square, total), each)
    return op.Mul(x, total)


def _beyond(op: Builder, x: Value, inner: Value, tail: Value) -> Value:
    """Return a tail with the sign of x, where x is not its clipped value; 0 elsewhere."""
    outer = op.Clip(op.Sub(x, inner), min=-1 / _STEEPNESS, max=1 / _STEEPNESS)
    return op.Mul(op.Mul(outer, _STEEPNESS), tail)


@form("Atan", error=POLYNOMIAL)
def atan(op: Builder, x: Value) -> Value:
    """Polynomial of x, or of 1 / x."""
    inner = op.Clip(x, min=-1.0, max=1.0)
    angle = _odd(op, op.Div(inner, op.Max(op.Abs(x), 1.0)), _ATAN)
    tail = op.Sub(pi / 2, op.Mul(op.Abs(angle), 2.0))
    return op.Add(angle, _beyond(op, x, inner, tail))


@form("Asin", error=POLYNOMIAL)
def asin(op: Builder, x: Value) -> Value:
    """Polynomial of the half angle's tangent, by Pow and Div."""
    cosine = op.Pow(op.Mul(op.Sub(1.0, x), op.Add(x, 1.0)), 0.5)
    return _odd(op, op.Div(x, op.Add(cosine, 1.0)), [2 * each for each in _ATAN])


@form("Acos", error=POLYNOMIAL)
def acos(op: Builder, x: Value) -> Value:
    """Sub and the form of Asin."""
    return op.Sub(pi / 2, asin(op, x))


@form("Tan")
def tan(op: Builder, x: Value) -> Value:
    """Sin, Cos and Div."""
    return op.Div(op.Sin(x), op.Cos(x))


@form("Sinh", error=POLYNOMIAL)
def sinh(op: Builder, x: Value) -> Value:
    """Polynomial, and Exp beyond 1."""
    inner = op.Clip(x, min=-1.0, max=1.0)
    half = op.Exp(op.Sub(op.Max(op.Abs(x), 1.0), log(2)))
    tail = op.Sub(op.Sub(half, op.Div(0.25, half)), math.sinh(1))
    return op.Add(_odd(op, inner, _SINH), _beyond(op, x, inner, tail))


@form("Cosh")
def cosh(op: Builder, x: Value) -> Value:
    """Exp, Div and Add."""
    half = op.Exp(op.Sub(op.Abs(x), log(2)))
    return op.Add(half, op.Div(0.25, half))


@form("Asinh", error=POLYNOMIAL)
def asinh(op: Builder, x: Value) -> Value:
    """Polynomial, and Pow and Log beyond 1."""
    inner = op.Clip(x, min=-1.0, max=1.0)
    outer = op.Max(op.Abs(x), 1.0)
    inverse = op.Reciprocal(outer)
    root = op.Pow(op.Add(op.Mul(inverse, inverse), 1.0), 0.5)
    scale = 1 / (1 + 2**0.5)  # the tail begins at 0, and does not overflow
    tail = op.Log(op.Mul(outer, op.Add(op.Mul(root, scale), scale)))
    return op.Add(_odd(op, inner, _ASINH), _beyond(op, x, inner, tail))


@form("Acosh")
def acosh(op: Builder, x: Value) -> Value:
    """Div, Pow and Log."""
    inverse = op.Reciprocal(x)  # x - 1 is exact near 1, and x * x overflows
    root = op.Pow(op.Mul(op.Mul(op.Sub(x, 1.0), inverse), op.Add(inverse, 1.0)), 0.5)
    return op.Log(op.Add(op.Mul(x, root), x))


@form("Atanh", error=POLYNOMIAL)
def atanh(op: Builder, x: Value) -> Value:
    """Polynomial, and Div and Log beyond 0.5."""
    inner = op.Clip(x, min=-0.5, max=0.5)
    outer = op.Max(op.Abs(x), 0.5)
    ratio = op.Div(op.Add(outer, 1.0), op.Sub(1.0, outer))
    tail = op.Mul(op.Log(op.Mul(ratio, 1 / 3)), 0.5)
    return op.Add(_odd(op, inner, _ATANH), _beyond(op, x, inner, tail))
