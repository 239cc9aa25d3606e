"""All built-in functions of OpenCL C 1.2 exist on the PC."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from opkit.common.errors import OpkitError
from opkit.runtimes.rknn.vx.compiler import compile_vx
from tests.marks import quick_first
from tests.runtimes.rknn.vx.support import INTEGERS, compute

INTEGER_TYPES = [*INTEGERS]
LANES = ("", "2", "3", "4", "8", "16")


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
    """Return the check of a function for a type: its existence and its result's type."""
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
    for high, wide in zip(INTEGER_TYPES[:6], INTEGER_TYPES[2:], strict=True):
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


@pytest.mark.slow
def test_functions_exist_for_all_types(vx_folder: Path) -> None:
    floats = ["float", "half"]
    checks = [
        *_table(FLOAT, floats),
        *_table(SINGLE, ["float"]),
        *_table(GEOMETRY, floats, LANES[:4]),
        *_table(INTEGER, INTEGER_TYPES),
        *_table(ATOMIC, ["int", "uint"], ("",), "atomic_"),
        *_table(ATOMIC, ["int", "uint"], ("",), "atom_"),
        *_table({"int" + key: names for key, names in FLOAT_TESTS.items()}, floats, ("",)),
        *_table({"H" + key: names for key, names in FLOAT_TESTS.items()}, floats, LANES[1:]),
        *_moves(),
        *_others(),
    ]
    source = vx_folder / "there.vx"
    source.write_text(
        "#define THERE(T, ...) "
        "_Static_assert(__builtin_types_compatible_p(T, __typeof__(__VA_ARGS__)), #__VA_ARGS__)\n"
        "__kernel void there(image2d_array_t y)\n{\n" + "\n".join(checks) + "\n}\n"
    )
    assert compile_vx(source, vx_folder / "cache").diagnostics == ""
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


def test_constants(vx_folder: Path) -> None:
    nothing = {"x": np.zeros(4, np.int32)}
    got = compute(
        vx_folder, "constants", [f"(int4)((int)({name}))" for name in CONSTANTS], nothing, np.int32
    )
    assert dict(zip(CONSTANTS, got[:, 0].tolist(), strict=True)) == CONSTANTS
    got = compute(
        vx_folder,
        "numbers",
        [f"(float4)((float)({name}))" for name in NUMBERS],
        nothing,
        np.float32,
    )
    for (name, number), value in zip(NUMBERS.items(), got[:, 0], strict=True):
        expected = np.float16(number) if name.endswith("_H") else np.float32(number)
        np.testing.assert_array_equal(value, np.float32(expected), err_msg=name)


# ---- double -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    quick_first(
        2,
        [
            *("exp(d)", "exp(dd)", "fma(d, d, d)", "min(d, d)", "max(dd, dd)", "clamp(d, d, d)"),
            *("ldexp(d, 2)", "ldexp(dd, 2)", "ilogb(d)", "isnan(d)", "isnan(dd)", "dot(d, d)"),
            *("length(dd)", "cross((double3)(d), (double3)(d))", "fract(d, &d)", "frexp(d, &i)"),
            *(
                "remquo(d, d, &i)",
                "select(d, d, l)",
                "sign(d)",
                "mix(dd, dd, d)",
                "nextafter(d, d)",
            ),
            *("atomic_xchg(&d, d)", "vstore_half2(dd, 0, &h)", "pown(d, i)", "native_exp(d)"),
            *("normalize(d)", "step(d, d)", "lgamma_r(d, &i)", "maxmag(d, d)", "nan(l)"),
        ],
    ),
)
def test_double_is_refused(vx_folder: Path, call: str) -> None:
    source = vx_folder / "double.vx"
    source.write_text(
        "__kernel void k(image2d_array_t y)\n{\n    double d = 1; double2 dd = (double2)(1);\n"
        f"    int i; long l = 1; half h;\n    {call};\n}}\n"
    )
    name = call.split("(")[0].removeprefix("native_")
    with pytest.raises(OpkitError, match=r"double\.vx:5:.* takes double") as caught:
        compile_vx(source, vx_folder / "cache")
    assert name in str(caught.value)


def test_double_is_accepted(vx_folder: Path) -> None:
    """Operators, conversions and moves are exact; halves are rounded once."""
    between = 1 + 2.0**-11 + 2.0**-40  # as float it is the midpoint of two halves
    got = compute(
        vx_folder,
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
