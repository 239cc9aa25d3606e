"""The built-in functions of integers on the PC, each against Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.marks import quick_first
from tests.runtimes.rknn.vx.support import INTEGERS, UP_TO_32_BITS, compute


def _wrap(value: int, kind: str) -> int:
    """Bring a whole number into the type's range by its low bits."""
    low, high = INTEGERS[kind]
    return (value - low) % (high - low + 1) + low


def _bits(kind: str) -> int:
    low, high = INTEGERS[kind]
    return (high - low).bit_length()


def _rotate(a: int, b: int, kind: str) -> int:
    bits = _bits(kind)
    pattern, shift = a % 2**bits, b % bits
    return _wrap(pattern << shift | pattern >> (bits - shift), kind)


# function -> its value for whole numbers of a type
WHOLE: dict[str, Callable[[int, int, int, str], int]] = {
    "add_sat(a, b)": lambda a, b, c, t: min(max(a + b, INTEGERS[t][0]), INTEGERS[t][1]),
    "sub_sat(a, b)": lambda a, b, c, t: min(max(a - b, INTEGERS[t][0]), INTEGERS[t][1]),
    "mad_sat(a, b, c)": lambda a, b, c, t: min(max(a * b + c, INTEGERS[t][0]), INTEGERS[t][1]),
    "mul_hi(a, b)": lambda a, b, c, t: a * b >> _bits(t),
    "mad_hi(a, b, c)": lambda a, b, c, t: _wrap((a * b >> _bits(t)) + c, t),
    "hadd(a, b)": lambda a, b, c, t: (a + b) >> 1,
    "rhadd(a, b)": lambda a, b, c, t: (a + b + 1) >> 1,
    "abs(a)": lambda a, b, c, t: abs(a),
    "abs_diff(a, b)": lambda a, b, c, t: abs(a - b),
    "min(a, b)": lambda a, b, c, t: min(a, b),
    "max(a, b)": lambda a, b, c, t: max(a, b),
    "clamp(a, min(b, c), max(b, c))": lambda a, b, c, t: min(max(a, min(b, c)), max(b, c)),
    "rotate(a, b)": lambda a, b, c, t: _rotate(a, b, t),
    "clz(a)": lambda a, b, c, t: _bits(t) - (a % 2 ** _bits(t)).bit_length(),
    "popcount(a)": lambda a, b, c, t: (a % 2 ** _bits(t)).bit_count(),
    "a + b": lambda a, b, c, t: _wrap(a + b, t),
    "bitselect(a, b, c)": lambda a, b, c, t: _wrap((a & ~c) | (b & c), t),
}


@pytest.mark.parametrize("kind", quick_first(2, UP_TO_32_BITS))
def test_integer_functions(vx_folder: Path, kind: str) -> None:
    low, high = INTEGERS[kind]
    values = [low, high, 0, 1, high // 2, low // 2 + 3, 77, high - 1]
    columns = np.array([(a, b, c) for a in values for b in values for c in values[:4]], object)
    signed = low < 0
    wide = np.int32 if signed else np.uint32
    variables = {f"{n}_": columns[:, i].astype(wide) for i, n in enumerate("abc")}
    before = "\n".join(f"    {kind}4 {n} = convert_{kind}4({n}_);" for n in "abc")
    got = compute(
        vx_folder,
        f"whole_{kind}",
        [f"convert_{'int4' if signed else 'uint4'}({expression})" for expression in WHOLE],
        variables,
        wide,
        before,
    )
    for row, (expression, function) in zip(got, WHOLE.items(), strict=True):
        expected = [
            _wrap(function(a, b, c, kind), "int" if signed else "uint") for a, b, c in columns
        ]
        np.testing.assert_array_equal(row, expected, err_msg=expression)


# ---- Integers of 64 bits ------------------------------------------------------------------------


# b has the same element four times in a row.
LONG: dict[str, Callable[[int, int, int, str], int]] = {
    **WHOLE,
    "min(a, b.x)": lambda a, b, c, t: min(a, b),
    "select(a, b, c)": lambda a, b, c, t: b if c % 2**64 >= 2**63 else a,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["long", "ulong"])
def test_functions_64_bit(vx_folder: Path, kind: str) -> None:
    low, high = INTEGERS[kind]
    values = [low, high, 0, 1, high // 2, 2**33 + 5, 77, low + 1]
    columns = [(a, b, c) for b in values for a in values for c in values[:4]]
    columns = [column for column in columns for _ in range(4)]  # so that b.x is b
    parts = {
        f"{name}_{half}": np.array([c[i] % 2**64 >> shift & 0xFFFFFFFF for c in columns], "u4")
        for i, name in enumerate("abc")
        for half, shift in (("low", 0), ("high", 32))
    }
    before = "\n".join(f"    {kind}4 {n} = as_{kind}4(upsample({n}_high, {n}_low));" for n in "abc")
    expressions = [
        f"convert_uint4(as_ulong4({expression}) >> {shift})"
        for expression in LONG
        for shift in ("0", "32")
    ]
    got = compute(vx_folder, f"of_{kind}", expressions, parts, np.uint32, before).astype(object)
    for index, (expression, function) in enumerate(LONG.items()):
        expected = [function(a, b, c, kind) % 2**64 for a, b, c in columns]
        numbers = got[2 * index] + got[2 * index + 1] * 2**32
        assert numbers.tolist() == expected, expression


def test_any_and_all(vx_folder: Path) -> None:
    x = np.array([-1, 0, 5, 0, -1, -2, -3, -4, 1, 2, 3, 4], np.int32)
    tests = [
        f"(int4)(any(convert_{kind}{lanes}(x{swizzle})), all(convert_{kind}{lanes}(x{swizzle})), "
        "0, 0)"
        for kind in ("char", "short", "int", "long")
        for lanes, swizzle in (
            ("", ".x"),
            ("2", ".xy"),
            ("3", ".xyz"),
            ("4", ""),
            ("8", ".xyzwxyzw"),
        )
    ]
    got = compute(vx_folder, "any_all", tests, {"x": x}, np.int32)
    for row, lanes in zip(got, [1, 2, 3, 4, 4] * 4, strict=True):
        groups = x.reshape(3, 4)[:, :lanes] < 0
        np.testing.assert_array_equal(row.reshape(3, 4)[:, 0], groups.any(1))
        np.testing.assert_array_equal(row.reshape(3, 4)[:, 1], groups.all(1))


def test_mul24_and_upsample(vx_folder: Path) -> None:
    a = np.array([2**23 - 1, -(2**23), 1, -1], np.int32)
    b = np.array([-(2**23), -(2**23), 7, 2**23 - 1], np.int32)
    got = compute(
        vx_folder,
        "narrow_products",
        [
            "mul24(a, b)",
            "mad24(a, b, a)",
            "convert_int4(upsample(convert_char4_sat(a), convert_uchar4_sat(b)))",
            "upsample(convert_short4_sat(a), convert_ushort4_sat(b))",
        ],
        {"a": a, "b": b},
        np.int32,
    )
    wide = a.astype(np.int64) * b
    np.testing.assert_array_equal(got[0], wide.astype(np.int32))
    np.testing.assert_array_equal(got[1], (wide + a).astype(np.int32))
    for row, bits in ((got[2], 8), (got[3], 16)):
        high = np.clip(a, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        np.testing.assert_array_equal(row, (high << bits) | np.clip(b, 0, 2**bits - 1))
