"""Conversions between types on the PC, and their roundings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from opkit.runtimes.rknn.vx import clang
from tests.marks import quick_first
from tests.runtimes.rknn.vx.support import (
    INTEGERS,
    UP_TO_32_BITS,
    Array,
    compute,
)

# ---- Conversions --------------------------------------------------------------------------------

ROUND: dict[str, Callable[[Array], Array]] = {
    "": np.trunc,
    "_rte": np.rint,
    "_rtz": np.trunc,
    "_rtp": np.ceil,
    "_rtn": np.floor,
}


@pytest.mark.parametrize("kind", quick_first(2, UP_TO_32_BITS))
def test_conversions_from_float(vx_folder: Path, kind: str) -> None:
    low, high = INTEGERS[kind]
    inside = np.array(
        [0, 0.5, 1.5, 2.5, 3.49, 100.75, 1, max(low, -2), max(low, -1.5), max(low, -0.5), 7.999],
        np.float32,
    )
    outside = np.array([1e12, -1e12, np.inf, -np.inf, np.nan], np.float32)
    x = np.concatenate([inside, outside])
    result = np.int32 if low < 0 else np.uint32
    vector = "int4" if low < 0 else "uint4"
    names = [f"convert_{kind}4{s}{r}" for s in ("", "_sat") for r in ROUND]
    rows = compute(
        *(vx_folder, f"convert_{kind}", [f"convert_{vector}({name}(x))" for name in names]),
        *({"x": x}, result),
    )
    for name, row in zip(names, rows, strict=True):
        rounded = ROUND[name.removeprefix(f"convert_{kind}4").removeprefix("_sat")](x.astype("f8"))
        count = len(x) if "_sat" in name else len(inside)
        expected = np.where(np.isnan(x), 0, np.clip(rounded, low, high))
        np.testing.assert_array_equal(row[:count], expected[:count], err_msg=name)


_HALVES = np.array(
    [1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11, 1e-8, 65519, 0, 0.1, -0.1], np.float32
)


def test_conversions_to_half(vx_folder: Path) -> None:
    names = ["convert_half4", *(f"convert_half4{suffix}" for suffix in ROUND if suffix)]
    rows = compute(
        *(vx_folder, "to_half", [f"convert_float4({name}(x))" for name in names]),
        *({"x": _HALVES}, np.float32),
    )
    nearest = _HALVES.astype(np.float16)
    with np.errstate(over="ignore"):
        below = np.nextafter(nearest, np.float16(-np.inf))
        above = np.nextafter(nearest, np.float16(np.inf))
    down = np.where(nearest > _HALVES, below, nearest)
    up = np.where(nearest < _HALVES, above, nearest)
    zero = np.where(_HALVES > 0, down, up)
    for name, row, expected in zip(names, rows, (nearest, nearest, zero, up, down), strict=True):
        np.testing.assert_array_equal(row, expected, err_msg=name)


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
        *(vx_folder, "halves", ["convert_float4(convert_half4(x))"], {"x": x}, np.float32),
    )
    np.testing.assert_array_equal(rows[0], nearest.astype(np.float32))


ASM = {
    "CONV": np.trunc,
    "CONV_RTE": np.rint,
    "CONV_RTZ": np.trunc,
    "CONV_RTP": np.ceil,
    "CONV_RTN": np.floor,
}


def test_viv_asm_conversions(vx_folder: Path) -> None:
    x = np.array([0.5, 1.5, -2.5, 3.75, -0.25, 100.5, 300.5, -300.5], np.float32)
    operations = [*ASM, *(name.replace("CONV", "CONV_SAT") for name in ASM)]
    macro = "#define AS(op, v) __extension__({ short4 s; _viv_asm(op, s, v); convert_int4(s); })\n"
    clamp = "__extension__({ int4 r; _viv_asm(CLAMP0MAX, r, convert_int4(x), 50); r; })"
    add = (
        "__extension__({ char4 r, a = convert_char4_sat(x); _viv_asm(ADDSAT, r, a, a); "
        "convert_int4(r); })"
    )
    source = [
        f"AS({operation}, x * {200 if 'SAT' in operation else 1}.0f)" for operation in operations
    ]
    rows = compute(
        *(vx_folder, "asm", [*source, clamp, add], {"x": x}, np.int32), before="\n" + macro
    )
    for operation, row in zip(operations, rows, strict=False):
        rounding = ASM[operation.replace("_SAT", "")]
        expected = (
            np.clip(rounding(x.astype("f8") * 200), -32768, 32767)
            if "SAT" in operation
            else rounding(x)
        )
        np.testing.assert_array_equal(row, expected, err_msg=operation)
    np.testing.assert_array_equal(rows[-2], np.clip(np.trunc(x), 0, 50))
    np.testing.assert_array_equal(rows[-1], np.clip(np.clip(np.trunc(x), -128, 127) * 2, -128, 127))


# ---- Conversions --------------------------------------------------------------------------------


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
