"""The built-in functions of floats and halves on the PC, each against numpy or by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.runtimes.rknn.vx.support import Array, compute

# ---- Floats in general --------------------------------------------------------------------------

_erf = np.vectorize(math.erf)
_gamma = np.vectorize(math.gamma)
_lgamma = np.vectorize(math.lgamma)
_A = np.array([0.25, 0.5, 0.75, 0.96875, 0.125, 0.375, 0.0625, 0.9], np.float32)  # in (0, 1)
_B = np.array([1.5, -2.25, 3.5, -0.5, 2.5, -3.75, 0.5, 100.0], np.float32)
_C = np.array([0.5, 2.0, -1.0, 0.25, -4.0, 3.0, 8.0, -0.125], np.float32)

# expression -> the same in numpy; a lies in (0, 1), b and c are any numbers
FLOAT: dict[str, Callable[[Array, Array, Array], Any]] = {
    "exp(c)": lambda a, b, c: np.exp(c),
    "exp2(c)": lambda a, b, c: np.exp2(c),
    "exp10(c)": lambda a, b, c: 10.0**c,
    "expm1(a)": lambda a, b, c: np.expm1(a),
    "log(a)": lambda a, b, c: np.log(a),
    "log2(a)": lambda a, b, c: np.log2(a),
    "log10(a)": lambda a, b, c: np.log10(a),
    "log1p(a)": lambda a, b, c: np.log1p(a),
    "logb(b)": lambda a, b, c: np.floor(np.log2(np.abs(b))),
    "cbrt(b)": lambda a, b, c: np.cbrt(b),
    "sqrt(a)": lambda a, b, c: np.sqrt(a),
    "rsqrt(a)": lambda a, b, c: 1 / np.sqrt(a),
    "sin(b)": lambda a, b, c: np.sin(b),
    "cos(b)": lambda a, b, c: np.cos(b),
    "tan(b)": lambda a, b, c: np.tan(b),
    "asin(a)": lambda a, b, c: np.arcsin(a),
    "acos(a)": lambda a, b, c: np.arccos(a),
    "atan(b)": lambda a, b, c: np.arctan(b),
    "sinh(c)": lambda a, b, c: np.sinh(c),
    "cosh(c)": lambda a, b, c: np.cosh(c),
    "tanh(c)": lambda a, b, c: np.tanh(c),
    "asinh(b)": lambda a, b, c: np.arcsinh(b),
    "acosh(a + 1.0f)": lambda a, b, c: np.arccosh(a + 1),
    "atanh(a)": lambda a, b, c: np.arctanh(a),
    "sinpi(a)": lambda a, b, c: np.sin(np.pi * a),
    "cospi(a)": lambda a, b, c: np.cos(np.pi * a),
    "tanpi(a * 0.5f)": lambda a, b, c: np.tan(np.pi * a / 2),
    "asinpi(a)": lambda a, b, c: np.arcsin(a) / np.pi,
    "acospi(a)": lambda a, b, c: np.arccos(a) / np.pi,
    "atanpi(b)": lambda a, b, c: np.arctan(b) / np.pi,
    "erf(c)": lambda a, b, c: _erf(c),
    "erfc(a)": lambda a, b, c: 1 - _erf(a),
    "tgamma(a)": lambda a, b, c: _gamma(a),
    "lgamma(a)": lambda a, b, c: _lgamma(a),
    "floor(b)": lambda a, b, c: np.floor(b),
    "ceil(b)": lambda a, b, c: np.ceil(b),
    "trunc(b)": lambda a, b, c: np.trunc(b),
    "rint(b)": lambda a, b, c: np.rint(b),
    "round(b)": lambda a, b, c: np.trunc(b + np.copysign(0.5, b)),
    "fabs(b)": lambda a, b, c: np.abs(b),
    "sign(b)": lambda a, b, c: np.sign(b),
    "degrees(b)": lambda a, b, c: np.degrees(b),
    "radians(b)": lambda a, b, c: np.radians(b),
    "pow(a, c)": lambda a, b, c: a**c,
    "powr(a, c)": lambda a, b, c: a**c,
    "pown(b, (int4)(2, 3, 0, -1))": lambda a, b, c: b ** np.tile([2, 3, 0, -1], 2).astype("f8"),
    "rootn(a, 3)": lambda a, b, c: np.cbrt(a),
    "ldexp(b, 3)": lambda a, b, c: b * 8,
    "fmod(b, c)": lambda a, b, c: np.fmod(b, c),
    "remainder(b, c)": lambda a, b, c: b - c * np.rint(b / c),
    "atan2(b, c)": lambda a, b, c: np.arctan2(b, c),
    "atan2pi(b, c)": lambda a, b, c: np.arctan2(b, c) / np.pi,
    "hypot(b, c)": lambda a, b, c: np.hypot(b, c),
    "nextafter(b, c)": lambda a, b, c: np.nextafter(b.astype("f4"), c.astype("f4")),
    "copysign(b, c)": lambda a, b, c: np.copysign(b, c),
    "fdim(b, c)": lambda a, b, c: np.maximum(b - c, 0),
    "fmin(b, c)": lambda a, b, c: np.minimum(b, c),
    "fmax(b, c)": lambda a, b, c: np.maximum(b, c),
    "fmin(b, 1.0f)": lambda a, b, c: np.minimum(b, 1),
    "fmax(b, 1.0f)": lambda a, b, c: np.maximum(b, 1),
    "min(b, c)": lambda a, b, c: np.minimum(b, c),
    "max(b, c)": lambda a, b, c: np.maximum(b, c),
    "max(b, 0.0f)": lambda a, b, c: np.maximum(b, 0),
    "clamp(b, -1.0f, 2.0f)": lambda a, b, c: np.clip(b, -1, 2),
    "clamp(b, (float4)(-1), (float4)(2))": lambda a, b, c: np.clip(b, -1, 2),
    "mad(a, b, c)": lambda a, b, c: a * b + c,
    "fma(a, b, c)": lambda a, b, c: a * b + c,
    "mix(b, c, a)": lambda a, b, c: b + (c - b) * a,
    "mix(b, c, 0.25f)": lambda a, b, c: b + (c - b) * 0.25,
    "step(0.0f, b)": lambda a, b, c: np.where(b < 0, 0, 1),
    "smoothstep(0.0f, 2.0f, b)": lambda a, b, c: (
        np.clip(b / 2, 0, 1) ** 2 * (3 - 2 * np.clip(b / 2, 0, 1))
    ),
    "native_exp(a) + native_recip(b)": lambda a, b, c: np.exp(a) + 1 / b,
    "half_exp2(a) * native_divide(b, c)": lambda a, b, c: np.exp2(a) * b / c,
    "select(b, c, b < c)": lambda a, b, c: np.where(b < c, c, b),
    "fract(b, &whole)": lambda a, b, c: b - np.floor(b),
    "modf(b, &whole) + whole": lambda a, b, c: b,
    "(float4)(dot(b, c))": lambda a, b, c: np.repeat((b * c).reshape(2, 4).sum(1), 4),
    "(float4)(length(b))": lambda a, b, c: np.repeat(np.linalg.norm(b.reshape(2, 4), axis=1), 4),
    "normalize(b) * distance(b, (float4)(0))": lambda a, b, c: b,
    "(float4)(M_PI_F, M_E_F, FLT_EPSILON, 0)": lambda a, b, c: np.tile(
        [np.pi, np.e, 2.0**-23, 0], 2
    ),
}


def test_float_functions(vx_folder: Path) -> None:
    got = compute(
        *(vx_folder, "floats", list(FLOAT), {"a": _A, "b": _B, "c": _C}, np.float32),
        before="    float4 whole;",
    )
    a, b, c = (array.astype(np.float64) for array in (_A, _B, _C))
    for row, (expression, expected) in zip(got, FLOAT.items(), strict=True):
        np.testing.assert_allclose(row, expected(a, b, c), 2e-6, 1e-6, err_msg=expression)


# expression -> the values of all elements, for a = NaN, inf, -0.0, 1.0
QUESTIONS = {
    "isnan(a)": [-1, 0, 0, 0],
    "isinf(a)": [0, -1, 0, 0],
    "isfinite(a)": [0, 0, -1, -1],
    "isnormal(a)": [0, 0, 0, -1],
    "signbit(a)": [0, 0, -1, 0],
    "isequal(a, a)": [0, -1, -1, -1],
    "isnotequal(a, a)": [-1, 0, 0, 0],
    "isgreater(a, (float4)(0))": [0, -1, 0, -1],
    "isgreaterequal(a, (float4)(0))": [0, -1, -1, -1],
    "isless(a, (float4)(1))": [0, 0, -1, 0],
    "islessequal(a, (float4)(1))": [0, 0, -1, -1],
    "islessgreater(a, (float4)(1))": [0, -1, -1, 0],
    "isordered(a, a)": [0, -1, -1, -1],
    "isunordered(a, a)": [-1, 0, 0, 0],
    "(int4)(isnan(a.x), any(a == a), all(a == a), any(a < a))": [1, 1, 0, 0],
    "as_int4(fmax(a, (float4)(-1)))": np.array([-1, np.inf, -0.0, 1], np.float32).view("i4"),
}


def test_float_classification(vx_folder: Path) -> None:
    special = np.array([np.nan, np.inf, -0.0, 1.0], np.float32)
    got = compute(vx_folder, "questions", list(QUESTIONS), {"a": special}, np.int32)
    for row, (expression, expected) in zip(got, QUESTIONS.items(), strict=True):
        np.testing.assert_array_equal(row, expected, err_msg=expression)


# ---- Floats at the edges ------------------------------------------------------------------------


def same(got: Array, expected: Any, message: str) -> None:
    """Check that numbers are equal, including the signs of zeros."""
    expected = np.asarray(expected, got.dtype)
    np.testing.assert_array_equal(got, expected, err_msg=message)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(
        np.signbit(got[known]), np.signbit(expected[known]), err_msg=message
    )


_LARGEST = float(np.finfo("f4").max)
EDGES = np.array(
    [
        *(0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, _LARGEST),
        *(-_LARGEST, 2.0**-126, 2.0**-149, 0.5, -0.5, 1.5, -2.5, 2.0**23 + 1),
    ],
    np.float32,
)


def _fract(x: Array) -> Any:
    """Return x - floor(x), below 1; zeros and infinities have none."""
    with np.errstate(invalid="ignore"):
        below = np.minimum(x - np.floor(x), np.nextafter(np.float32(1), np.float32(0)))
    return np.where(np.isinf(x) | (x == 0), np.copysign(0, x), below)


def _half_away(x: Array) -> Any:
    return np.copysign(np.floor(np.abs(x.astype("f8")) + 0.5), x)


def _turns(function: Callable[[float], float], x: Array) -> Array:
    """Return sin or cos of pi * x, exact for whole and half numbers."""
    values = []
    for number in x.astype("f8"):
        if not math.isfinite(number):
            values.append(math.nan)
            continue
        twice = Fraction(number) * 2
        value = function(math.pi * float(Fraction(number) % 2))
        values.append(round(value) if twice.denominator == 1 else value)
    return np.array(values)


ONE: dict[str, Callable[[Array], Any]] = {
    "fabs(x)": np.abs,
    "floor(x)": np.floor,
    "ceil(x)": np.ceil,
    "trunc(x)": np.trunc,
    "rint(x)": np.rint,
    "round(x)": _half_away,
    "sign(x)": lambda x: np.where(np.isnan(x), 0, np.where(x == 0, x, np.sign(x))),
    "sqrt(x)": np.sqrt,
    "rsqrt(x)": lambda x: 1 / np.sqrt(x),
    "fract(x, &y)": _fract,
    "__extension__({ fract(x, &y); y; })": np.floor,
    "modf(x, &y)": lambda x: np.modf(x)[0],
    "__extension__({ modf(x, &y); y; })": np.trunc,
    "frexp(x, &n)": lambda x: np.frexp(x)[0],
    "ldexp(frexp(x, &n), n)": lambda x: x,
    "logb(x)": lambda x: np.where(
        x == 0, -np.inf, np.where(np.isfinite(x), _exponent(x), np.abs(x))
    ),
    "exp(x)": lambda x: np.where(x == -1, np.float32(math.exp(-1)), np.exp(x)),
    "log(-x)": lambda x: np.log(-x),
    "as_float4(ilogb(x))": lambda x: (
        np.where((x == 0) | np.isnan(x), -(2**31), np.where(np.isinf(x), 2**31 - 1, _exponent(x)))
        .astype(np.int32)
        .view(np.float32)
    ),
    "cbrt(x * x * x)": lambda x: np.cbrt(x * x * x),
    "as_float4(nan(as_uint4(x)))": lambda x: np.full_like(x, np.nan),
}
EXACT = set(ONE) - {"exp(x)", "log(-x)", "rsqrt(x)", "cbrt(x * x * x)"}


def _exponent(x: Array) -> Array:
    return np.frexp(x)[1] - 1.0


def test_unary_functions_edge_cases(vx_folder: Path) -> None:
    got = compute(
        *(vx_folder, "edges", list(ONE), {"x": EDGES}, np.float32), before="    float4 y; int4 n;"
    )
    with np.errstate(all="ignore"):
        for row, (expression, function) in zip(got, ONE.items(), strict=True):
            expected = np.asarray(function(EDGES), np.float32)
            if expression in EXACT:
                same(row, expected, expression)
            else:
                np.testing.assert_allclose(row, expected, 2e-7, err_msg=expression)


def test_nan_payload(vx_folder: Path) -> None:
    numbers = np.array([0, 1, 0x3FFFFF, 0xFFFFFFFF], np.uint32)
    got = compute(
        vx_folder,
        "payload",
        ["as_uint4(nan(x))", "convert_uint4(as_ushort4(nan(convert_ushort4(x))))"],
        {"x": numbers},
        np.uint32,
    )
    np.testing.assert_array_equal(got[0], 0x7FC00000 | numbers & 0x3FFFFF)
    np.testing.assert_array_equal(got[1], 0x7E00 | numbers & 0x1FF)


def test_multiples_of_half_pi(vx_folder: Path) -> None:
    x = np.array(
        [*np.arange(-3, 3, 0.5), -0.0, 0.25, 1.25, -1.75, 2.0**23 + 1, 2.0**30, np.inf, np.nan],
        np.float32,
    )
    x = np.resize(x, 20)
    names = ["sinpi(x)", "cospi(x)", "tanpi(x)"]
    sine, cosine, tangent = compute(vx_folder, "turns", names, {"x": x}, np.float32)
    np.testing.assert_allclose(sine, _turns(math.sin, x), 2e-7)
    np.testing.assert_allclose(cosine, _turns(math.cos, x), 2e-7)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            np.abs(tangent), np.abs(_turns(math.sin, x) / _turns(math.cos, x)), 2e-7
        )
    whole = np.isin(x, [-3, -2, -1, 0, 1, 2])
    np.testing.assert_array_equal(np.signbit(sine[whole]), np.signbit(x[whole]))
    assert not np.signbit(cosine[cosine == 0]).any()
    signs = dict(zip(x.tolist(), np.sign(tangent).tolist(), strict=True))
    assert [signs[key] for key in (0.5, 1.5, -0.5, -1.5, 2.5)] == [1, -1, -1, 1, 1]
    np.testing.assert_array_equal(
        np.signbit(tangent[np.isin(x, [1, -1, 2, -2])]),
        [{1: True, -1: False, 2: False, -2: True}[v] for v in x[np.isin(x, [1, -1, 2, -2])]],
    )


def _largest(a: Array, b: Array) -> Array:
    return np.where(np.abs(a) > np.abs(b), a, np.where(np.abs(b) > np.abs(a), b, np.fmax(a, b)))


def _smallest(a: Array, b: Array) -> Array:
    return np.where(np.abs(a) < np.abs(b), a, np.where(np.abs(b) < np.abs(a), b, np.fmin(a, b)))


PAIRS = np.array(list(product(EDGES.tolist(), repeat=2)), np.float32)
TWO: dict[str, Callable[[Array, Array], Any]] = {
    "nextafter(a, b)": np.nextafter,
    "copysign(a, b)": np.copysign,
    "fmod(a, b)": np.fmod,
    "maxmag(a, b)": _largest,
    "minmag(a, b)": _smallest,
    "fmin(a, b)": np.fmin,
    "fmax(a, b)": np.fmax,
    "fdim(a, b)": lambda a, b: np.where(a <= b, 0, a - b),
    "step(a, b)": lambda a, b: np.where(b < a, 0, 1),
    "atan2(a, b)": np.arctan2,
    "hypot(a, b)": lambda a, b: np.hypot(a.astype("f8"), b.astype("f8")),
    "pow(a, b)": lambda a, b: a.astype("f8") ** b.astype("f8"),
}
TESTS: dict[str, Callable[[Array, Array], Any]] = {
    "isequal": lambda a, b: a == b,
    "isnotequal": lambda a, b: a != b,
    "isgreater": lambda a, b: a > b,
    "isgreaterequal": lambda a, b: a >= b,
    "isless": lambda a, b: a < b,
    "islessequal": lambda a, b: a <= b,
    "islessgreater": lambda a, b: (a < b) | (a > b),
    "isordered": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "isunordered": lambda a, b: np.isnan(a) | np.isnan(b),
}


def test_binary_functions_edge_cases(vx_folder: Path) -> None:
    a, b = PAIRS[:, 0].copy(), PAIRS[:, 1].copy()
    expressions = [*TWO, *(f"convert_float4({name}(a, b))" for name in TESTS)]
    got = compute(vx_folder, "pairs", expressions, {"a": a, "b": b}, np.float32)
    with np.errstate(all="ignore"):
        for row, (expression, function) in zip(got, TWO.items(), strict=False):
            np.testing.assert_allclose(
                row, np.asarray(function(a, b), np.float32), 3e-7, err_msg=expression
            )
        for row, (expression, function) in zip(got[len(TWO) :], TESTS.items(), strict=True):
            np.testing.assert_array_equal(row, -1.0 * function(a, b), err_msg=expression)


def test_remainder_with_quotient(vx_folder: Path) -> None:
    a = np.array([5, -5, 7.5, 2.5, 3.5, -2.5, 1e30, 3e38, 0.0, 1000, 1e-45, np.inf, 1, 1], "f4")
    b = np.array([3, 3, -3, 1, 1, 1, 7, 1e-30, 5, 3.25, 1, 1, 0, np.inf], "f4")
    a, b = np.resize(a, 16), np.resize(b, 16)
    rest, quotient = compute(
        *(vx_folder, "remquo", ["remquo(a, b, &n)", "convert_float4(n)"], {"a": a, "b": b}),
        *(np.float32, "    int4 n; remquo(a, b, &n);"),
    )
    for x, y, r, q in zip(a.tolist(), b.tolist(), rest, quotient, strict=True):
        if not math.isfinite(x) or y == 0:
            assert math.isnan(r)
            assert q == 0
            continue
        whole = 0 if math.isinf(y) else round(Fraction(x) / Fraction(y))
        assert q == int(math.copysign(abs(whole) % 128, whole)), (x, y)
        assert r == np.float32(math.remainder(x, y)), (x, y)


def test_lgamma_r(vx_folder: Path) -> None:
    x = np.array([0.5, 3, -0.5, -1.5, -2.5, 100, -100.5, 2], np.float32)
    value, sign = compute(
        *(vx_folder, "gamma", ["lgamma_r(x, &n)", "convert_float4(n)"], {"x": x}, np.float32),
        before="    int4 n; lgamma_r(x, &n);",
    )
    np.testing.assert_allclose(value, [math.lgamma(v) for v in x], 1e-6, 1e-6)
    np.testing.assert_array_equal(sign, [math.copysign(1, math.gamma(v)) for v in x])


_INF, _NAN = np.inf, np.nan
# call -> result by the standard
POWERS = {
    "powr(0.0f, 0.0f)": _NAN,
    "powr(INFINITY, 0.0f)": _NAN,
    "powr(1.0f, INFINITY)": _NAN,
    "powr(-1.0f, 2.0f)": _NAN,
    "powr(NAN, 0.0f)": _NAN,
    "powr(2.0f, NAN)": _NAN,
    "powr(2.0f, 0.0f)": 1,
    "powr(-0.0f, -1.0f)": _INF,
    "powr(-0.0f, 1.0f)": 0.0,
    "powr(2.0f, 0.5f)": math.sqrt(2),
    "pow(1.0f, NAN)": 1,
    "pow(NAN, 0.0f)": 1,
    "pow(-0.0f, -3.0f)": -_INF,
    "pown(-0.0f, -3)": -_INF,
    "pown(-0.0f, -2)": _INF,
    "pown(-0.0f, 3)": -0.0,
    "pown(-2.0f, 3)": -8,
    "pown(NAN, 0)": 1,
    "rootn(-8.0f, 3)": -2,
    "rootn(-0.0f, 3)": -0.0,
    "rootn(-0.0f, 2)": 0.0,
    "rootn(-0.0f, -3)": -_INF,
    "rootn(-0.0f, -2)": _INF,
    "rootn(-4.0f, 2)": _NAN,
    "rootn(-INFINITY, 2)": _NAN,
    "rootn(4.0f, 0)": _NAN,
    "rootn(4.0f, -2)": 0.5,
    "ldexp(1.0f, -149)": 2.0**-149,
    "ldexp(1.0f, 128)": _INF,
    "exp10(2.0f)": 100,
    "half_recip(4.0f) + native_divide(1.0f, 4.0f)": 0.5,
    "length((float4)(3e30f, 4e30f, 0, 0))": 5e30,
    "length((float2)(3e-30f, 4e-30f))": 5e-30,
    "normalize((float2)(3e30f, 4e30f)).y": 0.8,
    "normalize((float3)(0)).x": 0.0,
    "normalize(-3.0f)": -1,
    "distance((float2)(1, 2), (float2)(4, 6))": 5,
    "fast_distance(1.0f, -2.0f)": 3,
    "cross((float3)(1, 2, 3), (float3)(4, 5, 7)).y": 5,
    "cross((float4)(1, 2, 3, 9), (float4)(4, 5, 7, 9)).w": 0.0,
    "fma(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -1.0f)": 2.0**-11 + 2.0**-24,
    "fma(0x1p127f, 2.0f, -0x1p127f)": 2.0**127,
    "mix(1.0f, 3.0f, 0.25f)": 1.5,
    "smoothstep(0.0f, 2.0f, 3.0f)": 1,
    "degrees(M_PI_F)": 180,
    "radians(180.0f)": math.pi,
}


def test_known_values(vx_folder: Path) -> None:
    nothing = {"x": np.zeros(4, np.float32)}
    got = compute(
        vx_folder, "powers", [f"(float4)({call})" for call in POWERS], nothing, np.float32
    )
    for value, (call, expected) in zip(got[:, 0], POWERS.items(), strict=True):
        np.testing.assert_allclose(value, np.float32(expected), 2e-7, err_msg=call)
        if expected == 0:
            assert np.signbit(value) == np.signbit(expected), call


# ---- Halves -------------------------------------------------------------------------------------

_HALVES = np.array([0.25, 0.5, 0.75, 0.96875, 0.125, 0.375, 0.0625, 0.9], np.float16)
HALF: dict[str, Callable[[Array], Any]] = {
    **{name: getattr(np, name) for name in "exp exp2 expm1 log log2 log10 log1p cbrt sqrt".split()},
    **{name: getattr(np, name) for name in "sin cos tan sinh cosh tanh floor ceil trunc".split()},
    **{name: getattr(np, name) for name in "rint fabs sign degrees radians".split()},
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": lambda x: x * np.nan,
    "atanh": np.arctanh,
    "exp10": lambda x: 10**x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "logb": lambda x: np.floor(np.log2(x)),
    "sinpi": lambda x: np.sin(np.pi * x),
    "cospi": lambda x: np.cos(np.pi * x),
    "tanpi": lambda x: np.tan(np.pi * x) + np.where(x == 0.5, np.inf, 0),
    "asinpi": lambda x: np.arcsin(x) / np.pi,
    "acospi": lambda x: np.arccos(x) / np.pi,
    "atanpi": lambda x: np.arctan(x) / np.pi,
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
    "tgamma": np.vectorize(math.gamma),
    "lgamma": np.vectorize(math.lgamma),
    "round": lambda x: np.floor(x + 0.5),
}


@pytest.mark.parametrize("packed", [False, True])
def test_half_functions(vx_folder: Path, packed: bool) -> None:
    vector = "vxc_half4" if packed else "half4"
    got = compute(
        vx_folder,
        f"of_halves_{vector}",
        [f"convert_float4({name}(h))" for name in HALF],
        {"x": _HALVES.astype(np.float32)},
        np.float32,
        before=f"    {vector} h; _viv_asm(CONV, h, x);",
    )
    with np.errstate(invalid="ignore"):
        for row, (name, function) in zip(got, HALF.items(), strict=True):
            expected = np.asarray(function(_HALVES.astype("f8"))).astype(np.float16)
            np.testing.assert_allclose(row, expected, 2**-10, err_msg=name)


_HALF_EDGES = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 65504, 2.0**-14, 2.0**-24, 0.5, -2.5], "f2"
)
_HALF_PAIRS = np.array(list(product(_HALF_EDGES.tolist(), repeat=2)), np.float16)
HALF_TWO: dict[str, Callable[[Array, Array], Any]] = {
    "nextafter(a, b)": np.nextafter,
    "copysign(a, b)": np.copysign,
    "fmod(a, b)": np.fmod,
    "fmin(a, b)": np.fmin,
    "fmax(a, b)": np.fmax,
    "maxmag(a, b)": _largest,
    "minmag(a, b)": _smallest,
    "fdim(a, b)": lambda a, b: np.where(a <= b, np.float16(0), a - b),
    "fma(a, b, a)": lambda a, b: a.astype("f8") * b.astype("f8") + a.astype("f8"),
    "select(a, b, isless(a, b))": lambda a, b: np.where(a < b, b, a),
    "fract(a, &part)": lambda a, b: _fract_of_half(a),
    "modf(a, &part)": lambda a, b: np.modf(a)[0],
    "nextafter(a, b).xyzw": np.nextafter,
}
HALF_TESTS: dict[str, Callable[[Array], Any]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "isnormal": lambda a: np.isfinite(a) & (np.abs(a) >= 2.0**-14),
    "signbit": np.signbit,
}


def _fract_of_half(x: Array) -> Any:
    below = np.minimum(x - np.floor(x), np.float16(1 - 2.0**-11))
    return np.where(np.isinf(x) | (x == 0), np.copysign(np.float16(0), x), below)


def test_half_edge_cases(vx_folder: Path) -> None:
    a, b = _HALF_PAIRS[:, 0].copy(), _HALF_PAIRS[:, 1].copy()
    expressions = [f"convert_float4({expression})" for expression in HALF_TWO]
    expressions += [f"convert_float4({name}(a))" for name in HALF_TESTS]
    got = compute(
        *(vx_folder, "half_pairs", expressions),
        {"x": a.astype(np.float32), "y": b.astype(np.float32)},
        np.float32,
        before="    half4 a = convert_half4(x), b = convert_half4(y), part;",
    )
    with np.errstate(all="ignore"):
        for row, (expression, function) in zip(got, HALF_TWO.items(), strict=False):
            expected = np.asarray(function(a, b)).astype(np.float16)
            if re.match("copysign|fract|modf|fmod", expression):
                same(row, expected, expression)
            else:  # the order of zeros is undefined
                np.testing.assert_array_equal(row, expected, err_msg=expression)
        for row, (name, test) in zip(got[len(HALF_TWO) :], HALF_TESTS.items(), strict=True):
            np.testing.assert_array_equal(row, np.where(np.isnan(a), row, -1.0 * test(a)), name)
            if name != "signbit":
                np.testing.assert_array_equal(row, -1.0 * test(a), name)


def test_sign_of_gamma_at_poles(vx_folder: Path) -> None:
    x = np.array([0, -0.0, -1, -2], np.float32)
    before = "    int4 n; lgamma_r(x, &n);"
    values = compute(
        vx_folder, "poles", ["lgamma_r(x, &n)", "convert_float4(n)"], {"x": x}, "f4", before
    )
    np.testing.assert_array_equal(values, [[np.inf] * 4, [0] * 4])


def test_normalize_infinite_components(vx_folder: Path) -> None:
    x = np.array([np.inf, 1, -np.inf, -2], np.float32)
    (values,) = compute(vx_folder, "infinite", ["normalize(x)"], {"x": x}, np.float32)
    np.testing.assert_allclose(values, [0.5**0.5, 0, -(0.5**0.5), 0], 1e-6)


def test_fast_division_of_integers_is_one_of_floats(vx_folder: Path) -> None:
    x = np.array([7, 8, 9, 10], np.int32)
    expressions = ["native_divide(x.y, 3)", "half_divide(x.x, 2)", "native_divide(x.x, 2.0f)"]
    values = compute(
        *(vx_folder, "fast", [f"(float4)({each})" for each in expressions], {"x": x}, np.float32)
    )
    np.testing.assert_allclose(values[:, 0], [8 / 3, 3.5, 3.5], 1e-6)


def test_directed_conversion_of_least_long_to_half(vx_folder: Path) -> None:
    x = np.zeros(4, np.int32)
    values = compute(
        *(
            vx_folder,
            "least",
            [f"(float4)(convert_half_{each}(LONG_MIN))" for each in ("rtz", "rtp", "rtn")],
            {"x": x},
            np.float32,
        )
    )
    assert values[:, 0].tolist() == [-65504, -65504, -np.inf]
