"""Conversions between types on the PC, and their roundings."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from opkit.opencl import clang
from tests.marks import quick_first
from tests.runtimes.rknn.vx.support import INTEGERS, UP_TO_32_BITS, Array, compute

ROUND: dict[str, Callable[[Array], Array]] = {
    "": np.trunc,
    "_rte": np.rint,
    "_rtz": np.trunc,
    "_rtp": np.ceil,
    "_rtn": np.floor,
}


def _asm(operation: str, type_: str, result: str) -> str:
    return f"__extension__({{ {type_} r; _viv_asm({operation}, r, x); {result}; }})"


@pytest.mark.parametrize("kind", quick_first(2, UP_TO_32_BITS))
def test_conversions_from_float(vx_folder: Path, kind: str) -> None:
    """Conversions at midpoints between integers, and with _sat at and beyond the range's ends."""
    low, high = INTEGERS[kind]
    inside = [0, 0.5, 1.5, 2.5, 3.5, 0.49, 0.51, 3.49, 100.5, 7.999]
    inside += [max(low, value) for value in (-0.5, -1.5, -2.5, -2)]
    beyond = [high + 0.5, low - 0.5, high * 3, low * 3 - 300, 1e20, -1e20, np.inf, -np.inf]
    x = np.array([*inside, *beyond, np.nan, 0], np.float32)
    result, vector = (np.int32, "int4") if low < 0 else (np.uint32, "uint4")
    operations = [*product(("", "_sat"), ROUND)]
    expressions = [f"convert_{vector}(convert_{kind}4{sat}{r}(x))" for sat, r in operations]
    for pack, (sat, rounding) in product(("", "vxc_"), operations):
        operation = f"CONV{sat}{rounding}".upper()
        expressions.append(_asm(operation, f"{pack}{kind}4", f"convert_{vector}(r)"))
    rows = compute(vx_folder, f"convert_{kind}", expressions, {"x": x}, result)
    for row, expression, (sat, rounding) in zip(rows, expressions, operations * 3, strict=True):
        count = len(x) if sat else len(inside)
        rounded = np.clip(ROUND[rounding](x[:count].astype("f8")), low, high)
        np.testing.assert_array_equal(row[:count], np.nan_to_num(rounded), expression)


_HALVES = np.array(
    [
        *(1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11, 1e-8),
        *(65519, 65520, -1e9, 0, 0.1, -0.1, 1, 2),
    ],
    np.float32,
)


def test_conversions_to_half(vx_folder: Path) -> None:
    expressions = [f"convert_float4(convert_half4{rounding}(x))" for rounding in ROUND]
    expressions += [
        _asm(f"CONV{sat}{rounding}".upper(), "half4", "convert_float4(r)")
        for sat, rounding in product(("", "_sat"), ROUND)
    ]
    rows = compute(vx_folder, "to_half", expressions, {"x": _HALVES}, np.float32)
    with np.errstate(over="ignore"):
        nearest = _HALVES.astype(np.float16)
        below = np.nextafter(nearest, np.float16(-np.inf))
        above = np.nextafter(nearest, np.float16(np.inf))
    down = np.where(nearest > _HALVES, below, nearest)
    up = np.where(nearest < _HALVES, above, nearest)
    zero = np.where(_HALVES > 0, down, up)
    expected = (nearest, nearest, zero, up, down) * 3
    for row, expression, values in zip(rows, expressions, expected, strict=True):
        limit = 65504 if "_SAT" in expression else np.inf
        np.testing.assert_array_equal(row, np.clip(values, -limit, limit), expression)


@pytest.mark.parametrize("processor", ["x86-64-v2", "x86-64-v3"])
def test_half_conversion_with_and_without_f16c(
    vx_folder: Path, processor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if processor == "x86-64-v3" and clang.processor() != "-march=x86-64-v3":
        processor = "x86-64-v2"
    monkeypatch.setattr(clang, "processor", lambda: f"-march={processor}")
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    every = every[~np.isnan(every)]
    with np.errstate(over="ignore"):
        between = np.nextafter(every, np.float16(np.inf)).astype(np.float64)
        middle = ((every + between) / 2).astype(np.float32)
        x = np.concatenate([every.astype(np.float32), middle, middle * np.float32(1 + 2.0**-20)])
        x = np.resize(x[np.isfinite(x)], 2**17)
        nearest = x.astype(np.float16)
    rows = compute(
        *(vx_folder, "halves", ["convert_float4(convert_half4(x))"], {"x": x}, np.float32)
    )
    np.testing.assert_array_equal(rows[0], nearest.astype(np.float32))


def test_conversions_between_64_bit_and_float(vx_folder: Path) -> None:
    """2**62 + 2**38 is the midpoint of two floats; one more, and the upper float is nearer."""
    middle = 2**62 + 2**38
    step = 2.0**39
    names = ["", "_rte", "_rtz", "_rtp", "_rtn"]
    rows = [
        f"(float4)(convert_float{n}(m), convert_float{n}(m + 1), convert_float{n}(-m - 1), "
        f"convert_float{n}((ulong)m * 2 + 2))"
        for n in names
    ]
    rows += [
        f"(float4)(convert_double{n}(odd) - (double)0x1p53f, convert_double{n}(-odd) + "
        "(double)0x1p53f, 0, 0)"
        for n in names
    ]
    rows += [
        "(float4)(convert_float_rtz(ULONG_MAX), convert_float_rtn(ULONG_MAX), "
        "convert_float_rtz(LONG_MAX), convert_float_rtp(LONG_MIN + 1))",
        "(float4)(convert_long_sat(1e30f) == LONG_MAX, convert_long_sat(-1e30f) == LONG_MIN, "
        "convert_ulong_sat(1e30f) == ULONG_MAX, convert_ulong_sat(-1.0f) == 0)",
        "(float4)(convert_long_rte(2.5f), convert_long_rtp(2.5f), convert_long_rtn(-2.5f), "
        "convert_ulong(0x1p63f) == 0x8000000000000000UL)",
        "(float4)(convert_int_sat(LONG_MAX) == INT_MAX, convert_uchar_sat(LONG_MIN) == 0, "
        "convert_long_sat(ULONG_MAX) == LONG_MAX, convert_ulong_sat(LONG_MIN) == 0)",
    ]
    got = compute(
        *(vx_folder, "long_floats", rows, {"x": np.zeros(4, np.float32)}, np.float32),
        before=f"    long m = {middle}L, odd = 0x1p53f; odd += 1;",
    )
    base = 2.0**62
    up, down = base + step, base
    nearest = [down, up, -up, 2 * up]
    below = 2.0**63 - step
    expected = [
        *(nearest, nearest, [down, down, -down, 2 * down]),
        *([up, up, -down, 2 * up], [down, down, -up, 2 * down]),
        *([0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [2, 0, 0, 0], [0, -2, 0, 0]),
        [below * 2, below * 2, below, -below],
        *([1, 1, 1, 1], [2, 3, -3, 1], [1, 1, 1, 1]),
    ]
    np.testing.assert_array_equal(got, np.array(expected, np.float32))
