"""The built-in functions of OpenCL C 1.2 on the PC: all are there, and right at the edges."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.errors import OpkitError
from opkit.kernels.calls import Items
from opkit.vx.compiler import Program, compile_vx
from opkit.vx.runner import run_vx
from tests.host_build import vx_runtime
from tests.vx.support import KERNELS, Array, compute, launch, run, shared_folder

INTEGERS = "char uchar short ushort int uint long ulong".split()
LANES = ("", "2", "3", "4", "8", "16")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_folder(tmp_path_factory)


# ---- Every function for every type --------------------------------------------------------------

# signature -> functions. T: the type; S: its element; I, U, H: integers of as many elements: int,
# unsigned and as wide as T, signed and as wide; W, L: of twice the width, the unsigned lower half.
FLOAT = {
    "T(T)": "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erfc "
    "erf exp exp2 exp10 expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin "
    "sinh sinpi sqrt tan tanh tanpi tgamma trunc degrees radians sign",
    "T(T, T)": "atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr "
    "remainder max min step",
    "T(T, T, T)": "fma mad clamp mix smoothstep",
    "T(T, S)": "fmax fmin max min",
    "T(S, T)": "step",
    "T(T, S, S)": "clamp",
    "T(T, T, S)": "mix",
    "T(S, S, T)": "smoothstep",
    "T(T, T *)": "fract modf sincos",
    "T(T, I *)": "frexp lgamma_r",
    "T(T, T, I *)": "remquo",
    "T(T, I)": "ldexp pown rootn",
    "T(T, int)": "ldexp",
    "I(T)": "ilogb",
    "T(U)": "nan",
    "T(T, T, H)": "select",
    "T(T, T, U)": "select",
}
FLOAT_TESTS = {
    "(T)": "isfinite isinf isnan isnormal signbit",
    "(T, T)": "isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater "
    "isordered isunordered",
}
SINGLE = {
    "T(T)": " ".join(
        f"{prefix}_{name}"
        for prefix in ("native", "half")
        for name in "cos exp exp2 exp10 log log2 log10 recip rsqrt sin sqrt tan".split()
    ),
    "T(T, T)": "native_divide native_powr half_divide half_powr",
}
GEOMETRY = {
    "S(T, T)": "dot distance fast_distance",
    "S(T)": "length fast_length",
    "T(T)": "normalize fast_normalize",
}
INTEGER = {
    "U(T)": "abs",
    "U(T, T)": "abs_diff",
    "T(T)": "clz popcount",
    "T(T, T)": "add_sat hadd rhadd max min mul_hi rotate sub_sat",
    "T(T, S)": "max min",
    "T(T, T, T)": "clamp mad_hi mad_sat bitselect",
    "T(T, S, S)": "clamp",
    "T(T, T, H)": "select",
    "T(T, T, U)": "select",
}
ATOMIC = {
    "S(volatile S *, S)": "add sub xchg min max and or xor",
    "S(volatile S *)": "inc dec",
    "S(volatile S *, S, S)": "cmpxchg",
}
SIZES = {"char": 8, "short": 16, "int": 32, "long": 64, "half": 16, "float": 32}
SIGNED = {size: name for name, size in list(SIZES.items())[:4]}


def _types(element: str, lanes: tuple[str, ...] = LANES) -> Iterator[tuple[str, str, str]]:
    """Yield (prefix, element, lanes): vectors of up to four narrow elements are two types."""
    size = SIZES[element.removeprefix("u")]
    for lane in lanes:
        yield "", element, lane
        if size < 32 and lane in ("2", "3", "4"):
            yield "vxc_", element, lane


def _written(signature: str, name: str, prefix: str, element: str, lanes: str) -> str:
    """Return the check that a function is there for a type, and of its result's type."""
    size = SIZES[element.removeprefix("u")]
    signed = SIGNED[size]
    letters = {
        "T": f"{prefix}{element}{lanes}",
        "S": element,
        "I": f"int{lanes}",
        "U": f"{prefix}u{signed}{lanes}",
        "H": f"{prefix}{signed}{lanes}",
        "W": f"{prefix if size < 16 else ''}{'u' if element[0] == 'u' else ''}"
        f"{SIGNED.get(2 * size)}{lanes}",
    }
    signature = re.sub(r"\b[TSIUHW]\b", lambda found: letters[found[0]], signature)
    result, arguments = signature.rstrip(")").split("(", 1)
    values = ", ".join(f"*({argument} *)0" for argument in arguments.split(", "))
    return f"THERE({result}, {name}({values}));"


def _table(
    table: dict[str, str], elements: list[str], lanes: tuple[str, ...] = LANES, prefix: str = ""
) -> Iterator[str]:
    for signature, names in table.items():
        for name, element in product(names.split(), elements):
            for packed, _, lane in _types(element, lanes):
                if lane == "" and re.search(r"T, S|S, T", signature):
                    continue
                yield _written(signature, prefix + name, packed, element, lane)


def _moves() -> Iterator[str]:
    for element, lanes in product([*INTEGERS, "half", "float", "double"], LANES[1:]):
        vector = f"{element}{lanes}"
        yield f"THERE({vector}, vload{lanes}(1, (const {element} *)0));"
        yield f"THERE(void, vstore{lanes}(*({vector} *)0, 1, ({element} *)0));"
    for lanes, suffix in product(LANES, ("", "_rte", "_rtz", "_rtp", "_rtn")):
        for name in ("vstore_half", "vstorea_half")[: 2 if lanes else 1]:
            yield f"THERE(void, {name}{lanes}{suffix}(*(float{lanes} *)0, 1, (half *)0));"
    for lanes in LANES:
        yield f"THERE(float{lanes}, vload_half{lanes}(1, (const half *)0));"
    for lanes in LANES[1:]:
        yield f"THERE(float{lanes}, vloada_half{lanes}(1, (const half *)0));"


def _others() -> Iterator[str]:
    for name in "get_global_size get_global_id get_local_size get_local_id get_num_groups".split():
        yield f"THERE(size_t, {name}(0));"
    yield "THERE(size_t, get_group_id(0)); THERE(size_t, get_global_offset(0));"
    yield "THERE(uint, get_work_dim()); THERE(void, barrier(CLK_LOCAL_MEM_FENCE));"
    for name in "mem_fence read_mem_fence write_mem_fence".split():
        yield f"THERE(void, {name}(CLK_GLOBAL_MEM_FENCE));"
    for element, lanes in product(["char", "short", "int", "long"], LANES):
        yield f"THERE(int, any(*({element}{lanes} *)0)); THERE(int, all(*({element}{lanes} *)0));"
    for high, wide in zip(INTEGERS[:6], INTEGERS[2:], strict=True):
        low = high if high[0] == "u" else f"u{high}"
        for lanes in LANES:
            arguments = f"*({high}{lanes} *)0, *({low}{lanes} *)0"
            yield f"THERE({wide}{lanes}, upsample({arguments}));"
    for element, lanes in product(["int", "uint"], LANES):
        value = f"*({element}{lanes} *)0"
        yield f"THERE({element}{lanes}, mul24({value}, {value}));"
        yield f"THERE({element}{lanes}, mad24({value}, {value}, {value}));"
    for element in ("float", "half", "vxc_half"):
        for lanes in "34":
            value = f"*({element}{lanes} *)0"
            yield f"THERE({element}{lanes}, cross({value}, {value}));"
    yield "THERE(float, atomic_xchg((volatile float *)0, 1.0f));"
    for element, lanes in product([*INTEGERS, "float", "double"], LANES):
        step = {"": 1, "3": 4}.get(lanes) or int(lanes)
        yield f'_Static_assert(vec_step({element}{lanes}) == {step}, "vec_step");'


def test_every_function_is_there_for_every_type(folder: Path) -> None:
    floats = ["float", "half"]
    checks = [
        *_table(FLOAT, floats),
        *_table(SINGLE, ["float"]),
        *_table(GEOMETRY, floats, LANES[:4]),
        *_table(INTEGER, INTEGERS),
        *_table(ATOMIC, ["int", "uint"], ("",), "atomic_"),
        *_table(ATOMIC, ["int", "uint"], ("",), "atom_"),
        *_table({"int" + key: names for key, names in FLOAT_TESTS.items()}, floats, ("",)),
        *_table({"H" + key: names for key, names in FLOAT_TESTS.items()}, floats, LANES[1:]),
        *_moves(),
        *_others(),
    ]
    source = folder / "there.vx"
    source.write_text(
        "#define THERE(T, ...) "
        "_Static_assert(__builtin_types_compatible_p(T, __typeof__(__VA_ARGS__)), #__VA_ARGS__)\n"
        "__kernel void there(image2d_array_t y)\n{\n" + "\n".join(checks) + "\n}\n"
    )
    assert compile_vx(source, folder / "cache").diagnostics == ""
    assert len(checks) > 3000


_LARGEST = float(np.finfo("f4").max)
CONSTANTS = {
    "CHAR_BIT": 8,
    **{f"{name}_MAX": 2 ** (bits - 1) - 1 for name, bits in (("CHAR", 8), ("SHRT", 16))},
    **{f"{name}_MIN": -(2 ** (bits - 1)) for name, bits in (("CHAR", 8), ("SHRT", 16))},
    "SCHAR_MAX": 127,
    "SCHAR_MIN": -128,
    "UCHAR_MAX": 255,
    "USHRT_MAX": 65535,
    "INT_MAX": 2**31 - 1,
    "INT_MIN": -(2**31),
    "UINT_MAX >> 1": 2**31 - 1,
    "LONG_MAX >> 32": 2**31 - 1,
    "LONG_MIN >> 32": -(2**31),
    "ULONG_MAX >> 33": 2**31 - 1,
    "FP_ILOGB0": -(2**31),
    "FP_ILOGBNAN": -(2**31),
    "FP_FAST_FMAF": 1,
    "FLT_DIG": 6,
    "FLT_MANT_DIG": 24,
    "FLT_RADIX": 2,
    "FLT_MAX_10_EXP": 38,
    "FLT_MAX_EXP": 128,
    "FLT_MIN_10_EXP": -37,
    "FLT_MIN_EXP": -125,
    "HALF_DIG": 3,
    "HALF_MANT_DIG": 11,
    "HALF_RADIX": 2,
    "HALF_MAX_10_EXP": 4,
    "HALF_MAX_EXP": 16,
    "HALF_MIN_10_EXP": -4,
    "HALF_MIN_EXP": -13,
}
_E = math.e
NUMBERS: dict[str, float] = {
    "FLT_MAX": _LARGEST,
    "FLT_MIN": 2.0**-126,
    "FLT_EPSILON": 2.0**-23,
    "HALF_MAX": 65504,
    "HALF_MIN": 2.0**-14,
    "HALF_EPSILON": 2.0**-10,
    "MAXFLOAT": _LARGEST,
    "HUGE_VALF": np.inf,
    "INFINITY": np.inf,
    "NAN": np.nan,
    **{
        f"M_{name}_{letter}": value
        for name, value in {
            "E": _E,
            "LOG2E": math.log2(_E),
            "LOG10E": math.log10(_E),
            "LN2": math.log(2),
            "LN10": math.log(10),
            "PI": math.pi,
            "PI_2": math.pi / 2,
            "PI_4": math.pi / 4,
            "1_PI": 1 / math.pi,
            "2_PI": 2 / math.pi,
            "2_SQRTPI": 2 / math.sqrt(math.pi),
            "SQRT2": math.sqrt(2),
            "SQRT1_2": math.sqrt(0.5),
        }.items()
        for letter in "FH"
    },
}


def test_constants(folder: Path) -> None:
    nothing = {"x": np.zeros(4, np.int32)}
    got = compute(
        folder, "constants", [f"(int4)((int)({name}))" for name in CONSTANTS], nothing, np.int32
    )
    assert dict(zip(CONSTANTS, got[:, 0].tolist(), strict=True)) == CONSTANTS
    got = compute(
        folder, "numbers", [f"(float4)((float)({name}))" for name in NUMBERS], nothing, np.float32
    )
    for (name, number), value in zip(NUMBERS.items(), got[:, 0], strict=True):
        expected = np.float16(number) if name.endswith("_H") else np.float32(number)
        np.testing.assert_array_equal(value, np.float32(expected), err_msg=name)


# ---- double -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        *("exp(d)", "exp(dd)", "fma(d, d, d)", "min(d, d)", "max(dd, dd)", "clamp(d, d, d)"),
        *("ldexp(d, 2)", "ldexp(dd, 2)", "ilogb(d)", "isnan(d)", "isnan(dd)", "dot(d, d)"),
        *("length(dd)", "cross((double3)(d), (double3)(d))", "fract(d, &d)", "frexp(d, &i)"),
        *("remquo(d, d, &i)", "select(d, d, l)", "sign(d)", "mix(dd, dd, d)", "nextafter(d, d)"),
        *("atomic_xchg(&d, d)", "vstore_half2(dd, 0, &h)", "pown(d, i)", "native_exp(d)"),
        *("normalize(d)", "step(d, d)", "lgamma_r(d, &i)", "maxmag(d, d)", "nan(l)"),
    ],
)
def test_double_is_refused(folder: Path, call: str) -> None:
    source = folder / "double.vx"
    source.write_text(
        "__kernel void k(image2d_array_t y)\n{\n    double d = 1; double2 dd = (double2)(1);\n"
        f"    int i; long l = 1; half h;\n    {call};\n}}\n"
    )
    name = call.split("(")[0].removeprefix("native_")
    with pytest.raises(OpkitError, match=r"double\.vx:5:.* takes double") as caught:
        compile_vx(source, folder / "cache")
    assert name in str(caught.value)


def test_double_that_is_right(folder: Path) -> None:
    """Operators, conversions and moves are exact; halves are rounded once."""
    between = 1 + 2.0**-11 + 2.0**-40  # as float it lies in the middle between two halves
    got = compute(
        folder,
        "doubles",
        [
            "convert_float4((convert_double4(x) + (double4)(1)) - (double4)(1))",
            "(float4)(convert_half(middle), convert_half_rtz(middle), memory[0], memory[1])",
            "convert_float4(vload4(0, four))",
            "(float4)(bitselect((double)1, (double)2, (double)0) == 1, 0, 0, 0)",
        ],
        {"x": np.full(4, 2.0**-30, np.float32)},
        np.float32,
        before="    double middle = (double)1 + (double)0x1p-11f + (double)0x1p-40f;\n"
        "    half memory[2]; vstore_half(middle, 0, memory); vstore_half_rtz(middle, 1, memory);\n"
        "    double four[4]; vstore4((double4)(1, 2, 3, 4), 0, four);",
    )
    up, down = float(np.float16(between)), 1
    assert up == 1 + 2.0**-10
    expected = [[2.0**-30] * 4, [up, down, up, down], [1, 2, 3, 4], [1, 0, 0, 0]]
    np.testing.assert_array_equal(got, expected)


# ---- Floats at the edges ------------------------------------------------------------------------


def same(got: Array, expected: Any, message: str) -> None:
    """The same numbers, with the signs of zeros."""
    expected = np.asarray(expected, got.dtype)
    np.testing.assert_array_equal(got, expected, err_msg=message)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(
        np.signbit(got[known]), np.signbit(expected[known]), err_msg=message
    )


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


def test_functions_of_one_float_at_the_edges(folder: Path) -> None:
    got = compute(
        *(folder, "edges", list(ONE), {"x": EDGES}, np.float32), before="    float4 y; int4 n;"
    )
    with np.errstate(all="ignore"):
        for row, (expression, function) in zip(got, ONE.items(), strict=True):
            expected = np.asarray(function(EDGES), np.float32)
            if expression in EXACT:
                same(row, expected, expression)
            else:
                np.testing.assert_allclose(row, expected, 2e-7, err_msg=expression)


def test_the_number_that_a_nan_carries(folder: Path) -> None:
    numbers = np.array([0, 1, 0x3FFFFF, 0xFFFFFFFF], np.uint32)
    got = compute(
        folder,
        "payload",
        ["as_uint4(nan(x))", "convert_uint4(as_ushort4(nan(convert_ushort4(x))))"],
        {"x": numbers},
        np.uint32,
    )
    np.testing.assert_array_equal(got[0], 0x7FC00000 | numbers & 0x3FFFFF)
    np.testing.assert_array_equal(got[1], 0x7E00 | numbers & 0x1FF)


def test_halves_and_wholes_of_pi(folder: Path) -> None:
    x = np.array(
        [*np.arange(-3, 3, 0.5), -0.0, 0.25, 1.25, -1.75, 2.0**23 + 1, 2.0**30, np.inf, np.nan],
        np.float32,
    )
    x = np.resize(x, 20)
    names = ["sinpi(x)", "cospi(x)", "tanpi(x)"]
    sine, cosine, tangent = compute(folder, "turns", names, {"x": x}, np.float32)
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


def test_functions_of_two_floats_at_the_edges(folder: Path) -> None:
    a, b = PAIRS[:, 0].copy(), PAIRS[:, 1].copy()
    expressions = [*TWO, *(f"convert_float4({name}(a, b))" for name in TESTS)]
    got = compute(folder, "pairs", expressions, {"a": a, "b": b}, np.float32)
    with np.errstate(all="ignore"):
        for row, (expression, function) in zip(got, TWO.items(), strict=False):
            np.testing.assert_allclose(
                row, np.asarray(function(a, b), np.float32), 3e-7, err_msg=expression
            )
        for row, (expression, function) in zip(got[len(TWO) :], TESTS.items(), strict=True):
            np.testing.assert_array_equal(row, -1.0 * function(a, b), err_msg=expression)


def test_remainder_with_quotient(folder: Path) -> None:
    a = np.array([5, -5, 7.5, 2.5, 3.5, -2.5, 1e30, 3e38, 0.0, 1000, 1e-45, np.inf, 1, 1], "f4")
    b = np.array([3, 3, -3, 1, 1, 1, 7, 1e-30, 5, 3.25, 1, 1, 0, np.inf], "f4")
    a, b = np.resize(a, 16), np.resize(b, 16)
    rest, quotient = compute(
        *(folder, "remquo", ["remquo(a, b, &n)", "convert_float4(n)"], {"a": a, "b": b}),
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


def test_gamma_and_its_sign(folder: Path) -> None:
    x = np.array([0.5, 3, -0.5, -1.5, -2.5, 100, -100.5, 2], np.float32)
    value, sign = compute(
        *(folder, "gamma", ["lgamma_r(x, &n)", "convert_float4(n)"], {"x": x}, np.float32),
        before="    int4 n; lgamma_r(x, &n);",
    )
    np.testing.assert_allclose(value, [math.lgamma(v) for v in x], 1e-6, 1e-6)
    np.testing.assert_array_equal(sign, [math.copysign(1, math.gamma(v)) for v in x])


_INF, _NAN = np.inf, np.nan
# call -> what the standard says
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


def test_single_values(folder: Path) -> None:
    nothing = {"x": np.zeros(4, np.float32)}
    got = compute(folder, "powers", [f"(float4)({call})" for call in POWERS], nothing, np.float32)
    for value, (call, expected) in zip(got[:, 0], POWERS.items(), strict=True):
        np.testing.assert_allclose(value, np.float32(expected), 2e-7, err_msg=call)
        if expected == 0:
            assert np.signbit(value) == np.signbit(expected), call


# ---- Halves -------------------------------------------------------------------------------------

_A = np.array([0.25, 0.5, 0.75, 0.96875, 0.125, 0.375, 0.0625, 0.9], np.float16)
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
def test_functions_of_halves(folder: Path, packed: bool) -> None:
    vector = "vxc_half4" if packed else "half4"
    got = compute(
        folder,
        f"of_halves_{vector}",
        [f"convert_float4({name}(h))" for name in HALF],
        {"x": _A.astype(np.float32)},
        np.float32,
        before=f"    {vector} h; _viv_asm(CONV, h, x);",
    )
    with np.errstate(invalid="ignore"):
        for row, (name, function) in zip(got, HALF.items(), strict=True):
            expected = np.asarray(function(_A.astype("f8"))).astype(np.float16)
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


def test_halves_at_the_edges(folder: Path) -> None:
    a, b = _HALF_PAIRS[:, 0].copy(), _HALF_PAIRS[:, 1].copy()
    expressions = [f"convert_float4({expression})" for expression in HALF_TWO]
    expressions += [f"convert_float4({name}(a))" for name in HALF_TESTS]
    got = compute(
        *(folder, "half_pairs", expressions),
        {"x": a.astype(np.float32), "y": b.astype(np.float32)},
        np.float32,
        before="    half4 a = convert_half4(x), b = convert_half4(y), part;",
    )
    with np.errstate(all="ignore"):
        for row, (expression, function) in zip(got, HALF_TWO.items(), strict=False):
            expected = np.asarray(function(a, b)).astype(np.float16)
            if re.match("copysign|fract|modf|fmod", expression):
                same(row, expected, expression)
            else:  # which zero is the smaller one is left open
                np.testing.assert_array_equal(row, expected, err_msg=expression)
        for row, (name, test) in zip(got[len(HALF_TWO) :], HALF_TESTS.items(), strict=True):
            np.testing.assert_array_equal(row, np.where(np.isnan(a), row, -1.0 * test(a)), name)
            if name != "signbit":
                np.testing.assert_array_equal(row, -1.0 * test(a), name)


# ---- Integers of 64 bits ------------------------------------------------------------------------


def _wrap(value: int, signed: bool, bits: int = 64) -> int:
    value %= 2**bits
    return value - 2**bits if signed and value >= 2 ** (bits - 1) else value


def _sat(value: int, signed: bool) -> int:
    low, high = (-(2**63), 2**63 - 1) if signed else (0, 2**64 - 1)
    return min(max(value, low), high)


LONG: dict[str, Callable[[int, int, int, bool], int]] = {
    "a + b": lambda a, b, c, s: a + b,
    "add_sat(a, b)": lambda a, b, c, s: _sat(a + b, s),
    "sub_sat(a, b)": lambda a, b, c, s: _sat(a - b, s),
    "mad_sat(a, b, c)": lambda a, b, c, s: _sat(a * b + c, s),
    "mul_hi(a, b)": lambda a, b, c, s: a * b >> 64,
    "mad_hi(a, b, c)": lambda a, b, c, s: (a * b >> 64) + c,
    "hadd(a, b)": lambda a, b, c, s: (a + b) >> 1,
    "rhadd(a, b)": lambda a, b, c, s: (a + b + 1) >> 1,
    "abs(a)": lambda a, b, c, s: abs(a),
    "abs_diff(a, b)": lambda a, b, c, s: abs(a - b),
    "min(a, b)": lambda a, b, c, s: min(a, b),
    "max(a, b)": lambda a, b, c, s: max(a, b),
    "min(a, b.x)": lambda a, b, c, s: min(a, b),
    "clamp(a, min(b, c), max(b, c))": lambda a, b, c, s: min(max(a, min(b, c)), max(b, c)),
    "rotate(a, b)": lambda a, b, c, s: (a % 2**64 << b % 64) | (a % 2**64 >> (64 - b % 64)),
    "clz(a)": lambda a, b, c, s: 64 - (a % 2**64).bit_length(),
    "popcount(a)": lambda a, b, c, s: (a % 2**64).bit_count(),
    "bitselect(a, b, c)": lambda a, b, c, s: (a & ~c) | (b & c),
    "select(a, b, c)": lambda a, b, c, s: b if c % 2**64 >= 2**63 else a,
}


@pytest.mark.parametrize("kind", ["long", "ulong"])
def test_functions_of_64_bits(folder: Path, kind: str) -> None:
    signed = kind == "long"
    low, high = (-(2**63), 2**63 - 1) if signed else (0, 2**64 - 1)
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
    got = compute(folder, f"of_{kind}", expressions, parts, np.uint32, before).astype(object)
    for index, (expression, function) in enumerate(LONG.items()):
        expected = [function(a, b, c, signed) % 2**64 for a, b, c in columns]
        numbers = got[2 * index] + got[2 * index + 1] * 2**32
        assert numbers.tolist() == expected, expression


def test_any_and_all(folder: Path) -> None:
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
    got = compute(folder, "any_all", tests, {"x": x}, np.int32)
    for row, lanes in zip(got, [1, 2, 3, 4, 4] * 4, strict=True):
        groups = x.reshape(3, 4)[:, :lanes] < 0
        np.testing.assert_array_equal(row.reshape(3, 4)[:, 0], groups.any(1))
        np.testing.assert_array_equal(row.reshape(3, 4)[:, 1], groups.all(1))


def test_products_of_24_bits_and_upsample(folder: Path) -> None:
    a = np.array([2**23 - 1, -(2**23), 1, -1], np.int32)
    b = np.array([-(2**23), -(2**23), 7, 2**23 - 1], np.int32)
    got = compute(
        folder,
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


# ---- Conversions --------------------------------------------------------------------------------


def test_conversions_between_64_bits_and_floats(folder: Path) -> None:
    """2**62 + 2**38 lies in the middle between two floats; one more, and the upper is nearer."""
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
        *(folder, "long_floats", rows, {"x": np.zeros(4, np.float32)}, np.float32),
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


# ---- Memory -------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def memory(folder: Path) -> Program:
    return compile_vx(KERNELS / "memory.vx", folder / "cache")


def test_stores_of_halves_round(memory: Program) -> None:
    x = np.array([[1 + 2.0**-11, -1 - 2.0**-11, 65520, 1 + 3 * 2.0**-11]], np.float32)
    got = run(*(memory, "stores", launch((1,)), {"x": x}, {"y": ((5, 16), "f4")})).outputs["y"]
    nearest = [1, -1, np.inf, 1 + 2 * 2.0**-10]
    rounded = [
        *(nearest, nearest, [1, -1, 65504, 1 + 2.0**-10]),
        [1 + 2.0**-10, -1, np.inf, 1 + 2 * 2.0**-10],
        [1, -1 - 2.0**-10, 65504, 1 + 2.0**-10],
    ]
    for row, (a, b, c, d) in zip(got, rounded, strict=True):
        np.testing.assert_array_equal(row, [a, b, c, d, 0, 0, a, b, c, 0, 0, 0, a, b, c, d])


def test_loads_and_stores(memory: Program) -> None:
    x = np.zeros((1, 4), np.float32)
    got = run(*(memory, "loads", launch((1,)), {"x": x}, {"y": ((2, 16), "f4")})).outputs["y"]
    np.testing.assert_array_equal(
        got[0], [7.5, 4.5, 5.5, 0, 6.5, 7.5, 8.5, 0, 8.5, 9.5, 10.5, 0, 31.5, 24.5, 20.5, 16.5]
    )
    np.testing.assert_array_equal(
        got[1], [28.5, 29.5, 30.5, 31.5, 1, -2, 3, -(2.0**63), 1, -4, 5, 8, -4, 5, 6, 0]
    )


def test_shuffle(memory: Program) -> None:
    x = np.arange(8, dtype=np.float32).reshape(1, 8) + 20
    got = run(*(memory, "shuffles", launch((1,)), {"x": x}, {"y": ((2, 16), "f4")})).outputs["y"]
    np.testing.assert_array_equal(
        got[0], [23, 20, 20, 22, 27, 20, 25, 24, 77, 66, 0, 11, 4, 1, 4, 4]
    )
    np.testing.assert_array_equal(got[1, :8], [23, 22, 21, 20, 6, 5, 6, 5])


# ---- Copies by a whole group --------------------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
def test_asynchronous_copies(memory: Program, reverse: bool) -> None:
    got = run(
        *(memory, "groups", launch((4,), (1,), (4,)), {}, {"y": ((1, 16), "i4")}),
        [Items(tuple(range(32)))],
        reverse=reverse,
    ).outputs["y"]
    expected = [[100 + 2 * i, 8 + i, 100 + 2 * i, 17 + 3 * i] for i in range(4)]
    np.testing.assert_array_equal(got.reshape(4, 4), expected)


def test_a_copy_that_nobody_waits_for_is_not_made(memory: Program) -> None:
    outcome = run(
        *(memory, "forgotten", launch((4,), (1,), (4,)), {}, {"y": ((1, 16), "i4")}),
        [Items(tuple(range(32)))],
    )
    (event,) = outcome.events
    assert (event.kind, event.count) == ("copy of a group that nobody waits for", 4)
    np.testing.assert_array_equal(outcome.outputs["y"], -1)


def test_waiting_for_a_copy_needs_a_group(memory: Program) -> None:
    assert memory.kernels["groups"].barrier
    assert not memory.kernels["shuffles"].barrier


# ---- printf -------------------------------------------------------------------------------------


def test_printf(memory: Program) -> None:
    outcome = run(memory, "prints", launch((1,)), {}, {"y": ((1, 4), "f4")})
    assert outcome.printed.splitlines() == [
        "3% of all",
        "1.500000 -2.50 1.5 -3 200|    4|7    |ffffffff",
        "1.000000,2.000000,3.000000,4.000000 -2.500000,-2.500000,-2.500000,-2.500000 "
        "0.0,0.0,0.0,0.0 -3,-3,-3,-3 200,1,255 c8,1,ff",
        f"0.0,0.0,0.0,0.0 c {-(2**63)} {2**64 - 1} 1,-2",
        "nothing",
    ]
    assert outcome.events == []


def test_printf_of_other_types(memory: Program) -> None:
    outcome = run(memory, "misprints", launch((1,)), {}, {"y": ((1, 4), "f4")})
    assert {event.kind: event.count for event in outcome.events} == {
        "printf of another type": 2,
        "printf without a value, or with a conversion that it has not": 1,
    }


def test_what_was_printed_before_a_crash_is_kept(memory: Program) -> None:
    outcome = run_vx(
        *(memory, "prints_and_crashes", launch((1,)), {}, {"y": ((1, 4), "f4")}),
        runtime=vx_runtime(),
    )
    assert "SIGSEGV" in outcome.fault
    assert outcome.printed == "so far\n"


# ---- Atomics ------------------------------------------------------------------------------------

ATOMICS: dict[str, int] = {
    "add(&m, 3)": 8,
    "sub(&m, 3)": 2,
    "xchg(&m, 3)": 3,
    "min(&m, 3)": 3,
    "max(&m, 3)": 5,
    "and(&m, 3)": 1,
    "or(&m, 3)": 7,
    "xor(&m, 3)": 6,
    "inc(&m)": 6,
    "dec(&m)": 4,
    "cmpxchg(&m, 5, 3)": 3,
    "cmpxchg(&m, 4, 3)": 5,
    "min(&m, -1)": -1,
    "max(&m, -1)": 5,
}


@pytest.mark.parametrize("kind", ["int", "uint"])
def test_atomics(folder: Path, kind: str) -> None:
    calls = [(prefix, call) for prefix in ("atomic_", "atom_") for call in ATOMICS]
    got = compute(
        folder,
        f"atomics_{kind}",
        [
            f"__extension__({{ {kind} m = 5, old = {prefix}{call}; (int4)(old, m, 0, 0); }})"
            for prefix, call in calls
        ],
        {"x": np.zeros(4, np.int32)},
        np.int32,
    )
    large = {"min(&m, -1)": 5, "max(&m, -1)": -1} if kind == "uint" else {}
    expected = [[5, {**ATOMICS, **large}[call], 0, 0] for _, call in calls]
    np.testing.assert_array_equal(got, expected)
