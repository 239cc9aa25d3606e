"""The language of `.vx` kernels on the PC, each part against numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

from opkit.kernels.calls import Items, Scalar
from opkit.vx import compiler
from opkit.vx.compiler import Program, compile_vx
from opkit.vx.runner import PAST_END
from tests.vx.support import (
    KERNELS,
    Array,
    border,
    compute,
    float32,
    int32,
    launch,
    run,
    shared_folder,
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_folder(tmp_path_factory)


@pytest.fixture(scope="session")
def movement(folder: Path) -> Program:
    return compile_vx(KERNELS / "movement.vx", folder / "cache")


def counted(shape: tuple[int, ...], dtype: DTypeLike = np.int16) -> Array:
    return np.arange(1, math.prod(shape) + 1).reshape(shape).astype(dtype)


# ---- Reads, writes, copies ----------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["copy_2d", "by_address"])
@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.float16])
def test_copies(movement: Program, kernel: str, dtype: DTypeLike) -> None:
    x = counted((1 if kernel == "copy_2d" else 3, 4, 13), dtype)
    outcome = run(
        *(movement, kernel, launch((2, 4, len(x)), (8, 1, 1)), {"x": x}, {"y": (x.shape, dtype)})
    )
    np.testing.assert_array_equal(outcome.outputs["y"], x)
    assert {event.kind for event in outcome.events} == set(PAST_END)
    assert outcome.unwritten == {}


def _shifted(x: Array, outside: Any) -> Array:
    padded = (
        np.pad(x, ((0, 0), (1, 0), (1, 0)), mode="edge")
        if outside == "edge"
        else np.pad(x, ((0, 0), (1, 0), (1, 0)), constant_values=outside)
    )
    return padded[:, :-1, :-1]


@pytest.mark.parametrize(
    ("policy", "value", "outside"),
    [("poison", 0, 0x7E7E), ("edge", 0, "edge"), ("constant", 9, 9)],
)
def test_offsets_and_borders(movement: Program, policy: str, value: int, outside: Any) -> None:
    x = counted((2, 3, 8))
    outcome = run(
        *(movement, "shifted", launch((1, 3, 2), (8, 1, 1)), {"x": x}, {"y": (x.shape, "int16")}),
        border=border(policy, value),
    )
    np.testing.assert_array_equal(outcome.outputs["y"], _shifted(x, outside))
    (event,) = outcome.events
    assert (event.kind, event.tensor) == ("read outside", "x")
    assert event.count == 2 * (8 + 2)  # a row above, and a column beside the two other rows
    assert event.at == (-1, -1, 0)
    assert event.line is not None
    assert event.line.endswith("movement.vx:19")


def test_start_and_end_bins(movement: Program) -> None:
    x = counted((2, 3, 8))
    outcome = run(
        *(movement, "bins", launch((1, 3, 2)), {"x": x}, {"y": (x.shape, "int16")}),
    )
    expected = np.broadcast_to(np.arange(100, 108), x.shape).copy()
    expected[..., 2:5] = x[..., :3]
    np.testing.assert_array_equal(outcome.outputs["y"], expected)


def test_source_bin_of_a_write(movement: Program) -> None:
    x = counted((2, 3, 8))
    outcome = run(*(movement, "source_bin", launch((1, 3, 2)), {"x": x}, {"y": (x.shape, "int16")}))
    np.testing.assert_array_equal(outcome.outputs["y"][..., :4], x[..., 3:7])
    assert outcome.unwritten == {"y": (2 * 3 * 4, (0, 0, 4))}


def test_descriptor(movement: Program) -> None:
    x = counted((5, 3, 7))
    outcome = run(*(movement, "descriptor", launch((1,)), {"x": x}, {"y": ((1, 8), "int32")}))
    np.testing.assert_array_equal(outcome.outputs["y"], [[14, 42, 5, 0, 7, 3, 5, 0]])


def test_small_vectors_are_not_packed(movement: Program) -> None:
    x = np.linspace(-2, 2, 8, dtype=np.float16).reshape(1, 1, 8)
    outcome = run(*(movement, "unpacked", launch((1, 1, 1)), {"x": x}, {"y": (x.shape, "float16")}))
    np.testing.assert_array_equal(outcome.outputs["y"][..., ::2], x[..., :4])
    np.testing.assert_array_equal(outcome.outputs["y"][..., 1::2], 0)


def test_packing_small_vectors(movement: Program) -> None:
    x = counted((1, 1, 8))
    outcome = run(*(movement, "repacked", launch((1, 1, 1)), {"x": x}, {"y": ((1, 1, 4), "int16")}))
    np.testing.assert_array_equal(outcome.outputs["y"], x[..., ::2])


@pytest.mark.parametrize("width", [1, 15, 16, 17, 32])
def test_bytes(movement: Program, width: int) -> None:
    x = counted((2, 3, width), np.uint8)
    outcome = run(
        *(movement, "bytes", launch((-(-width // 16), 3, 2), (16, 1, 1))),
        *({"x": x}, {"y": (x.shape, "uint8")}),
    )
    np.testing.assert_array_equal(outcome.outputs["y"], 255 - x)
    assert outcome.unwritten == {}


def test_partial_copy_and_move(movement: Program) -> None:
    x = counted((1, 1, 8))
    outcome = run(*(movement, "part", launch((1, 1, 1)), {"x": x}, {"y": (x.shape, "int16")}))
    np.testing.assert_array_equal(outcome.outputs["y"][0, 0], [1, 2, 3, 4, 7, 7, 7, -5])


# ---- Scalars, arrays, uniforms, work items ------------------------------------------------------


def test_scalars_and_arrays(movement: Program) -> None:
    params: list[Scalar | Items] = [int32(-3), int32(-1), float32(1.5)]
    params += [Scalar("VX_TYPE_UINT8", b"\1"), int32(77), Items((10, 20, 30))]
    outcome = run(movement, "scalars", launch((1,)), {}, {"y": ((1, 8), "int32")}, params)
    bits = int(np.float32(1.5).view(np.int32))
    np.testing.assert_array_equal(outcome.outputs["y"], [[-3, -1, bits, 1, 77, 3, 10, 30]])


def test_narrow_scalars_are_not_sign_extended(movement: Program) -> None:
    narrow = Scalar("VX_TYPE_INT8", b"\xff")
    params: list[Scalar | Items] = [
        narrow,
        narrow,
        float32(0),
        Scalar("VX_TYPE_UINT8", b"\0"),
        narrow,
        Items((1,)),
    ]
    outcome = run(movement, "scalars", launch((1,)), {}, {"y": ((1, 8), "int32")}, params)
    np.testing.assert_array_equal(outcome.outputs["y"], [[255, 255, 0, 0, 255, 1, 1, 1]])


def test_uniforms(movement: Program) -> None:
    x = counted((1, 8), np.int32)
    outcome = run(
        *(movement, "uniforms", launch((2,), (4,)), {"x": x}, {"y": (x.shape, "int32")}),
        uniforms={
            "factor": np.float32(2.5).tobytes(),
            "addend": np.array([1, 2, 3, 4], np.int32).tobytes(),
        },
    )
    np.testing.assert_array_equal(
        outcome.outputs["y"][0], np.trunc(x[0] * 2.5) + np.tile([1, 2, 3, 4], 2)
    )


def test_work_items(movement: Program) -> None:
    where = launch((4, 2), (3, 3), (2, 2), (1, 1))
    outcome = run(movement, "ids", where, {}, {"y": ((8, 12), "int32")})
    expected = [
        [1 + 3 * (2 * group + x), 1 + 3 * y, x, y, group, 2, 4, 2, 2, 1, 1, 0]
        for group in range(2)
        for y in range(2)
        for x in range(2)
    ]
    np.testing.assert_array_equal(outcome.outputs["y"], expected)


@pytest.mark.parametrize("reverse", [False, True])
def test_barrier_and_local_memory(movement: Program, reverse: bool) -> None:
    x = counted((5, 16), np.int32)
    outcome = run(
        *(movement, "row_sums", launch((16, 5), (1, 1), (16, 1))),
        *({"x": x}, {"y": ((5, 1), "int32")}),
        reverse=reverse,
    )
    np.testing.assert_array_equal(outcome.outputs["y"][:, 0], x.sum(1))


def test_atomics_and_vectors_by_pointer(movement: Program) -> None:
    outcome = run(movement, "atomics", launch((8,), (1,), (8,)), {}, {"y": ((1, 8), "int32")})
    np.testing.assert_array_equal(outcome.outputs["y"], [[28, 0, 7, 8, ~255, 255, 0, 13]])


# ---- read_image... and write_image... -----------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "letter"),
    [
        *(("float16", "f"), ("float32", "f"), ("int8", "i"), ("int16", "i"), ("int32", "i")),
        *(("uint8", "ui"), ("uint16", "ui"), ("uint32", "ui")),
    ],
)
def test_read_image_takes_four_neighbours(folder: Path, dtype: str, letter: str) -> None:
    source = folder / f"neighbours_{dtype}.vx"
    source.write_text(
        "__kernel void k(image2d_array_t x, image2d_array_t y)\n{\n"
        "    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
        f"    write_image{letter}(y, at, read_image{letter}(x, at));\n}}\n"
    )
    program = compile_vx(source, folder / "cache")
    x = counted((2, 3, 6), dtype)
    outcome = run(
        *(program, "k", launch((2, 3, 2), (4, 1, 1)), {"x": x}, {"y": (x.shape, dtype)}),
    )
    np.testing.assert_array_equal(outcome.outputs["y"], x)
    assert {event.kind for event in outcome.events} == set(PAST_END)


# ---- Mathematics --------------------------------------------------------------------------------

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


def test_functions_of_floats(folder: Path) -> None:
    got = compute(
        *(folder, "floats", list(FLOAT), {"a": _A, "b": _B, "c": _C}, np.float32),
        before="    float4 whole;",
    )
    a, b, c = (array.astype(np.float64) for array in (_A, _B, _C))
    for row, (expression, expected) in zip(got, FLOAT.items(), strict=True):
        np.testing.assert_allclose(row, expected(a, b, c), 2e-6, 1e-6, err_msg=expression)


# expression -> the values of all elements, for a = NaN, inf, -0.0, 1.0
TESTS = {
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


def test_questions_about_floats(folder: Path) -> None:
    special = np.array([np.nan, np.inf, -0.0, 1.0], np.float32)
    got = compute(folder, "questions", list(TESTS), {"a": special}, np.int32)
    for row, (expression, expected) in zip(got, TESTS.items(), strict=True):
        np.testing.assert_array_equal(row, expected, err_msg=expression)


INTEGERS: dict[str, tuple[int, int]] = {
    "char": (-(2**7), 2**7 - 1),
    "uchar": (0, 2**8 - 1),
    "short": (-(2**15), 2**15 - 1),
    "ushort": (0, 2**16 - 1),
    "int": (-(2**31), 2**31 - 1),
    "uint": (0, 2**32 - 1),
}


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


@pytest.mark.parametrize("kind", INTEGERS)
def test_functions_of_whole_numbers(folder: Path, kind: str) -> None:
    low, high = INTEGERS[kind]
    values = [low, high, 0, 1, high // 2, low // 2 + 3, 77, high - 1]
    columns = np.array([(a, b, c) for a in values for b in values for c in values[:4]], object)
    signed = low < 0
    wide = np.int32 if signed else np.uint32
    variables = {f"{n}_": columns[:, i].astype(wide) for i, n in enumerate("abc")}
    before = "\n".join(f"    {kind}4 {n} = convert_{kind}4({n}_);" for n in "abc")
    got = compute(
        folder,
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


# ---- Conversions --------------------------------------------------------------------------------

ROUND: dict[str, Callable[[Array], Array]] = {
    "": np.trunc,
    "_rte": np.rint,
    "_rtz": np.trunc,
    "_rtp": np.ceil,
    "_rtn": np.floor,
}


@pytest.mark.parametrize("kind", INTEGERS)
def test_conversions_from_float(folder: Path, kind: str) -> None:
    low, high = INTEGERS[kind]
    inside = np.array(
        [0, 0.5, 1.5, 2.5, 3.49, 100.75, 1, max(low, -2), max(low, -1.5), max(low, -0.5), 0, 7.999],
        np.float32,
    )
    outside = np.array([1e12, -1e12, np.inf, -np.inf], np.float32)
    x = np.concatenate([inside, outside])
    result = np.int32 if low < 0 else np.uint32
    vector = "int4" if low < 0 else "uint4"
    names = [f"convert_{kind}4{s}{r}" for s in ("", "_sat") for r in ROUND]
    rows = compute(
        *(folder, f"convert_{kind}", [f"convert_{vector}({name}(x))" for name in names]),
        *({"x": x}, result),
    )
    for name, row in zip(names, rows, strict=True):
        rounded = ROUND[name.removeprefix(f"convert_{kind}4").removeprefix("_sat")](x.astype("f8"))
        count = len(x) if "_sat" in name else len(inside)
        np.testing.assert_array_equal(
            row[:count], np.clip(rounded, low, high)[:count], err_msg=name
        )


_HALVES = np.array(
    [1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11, 1e-8, 65519, 0, 0.1, -0.1], np.float32
)


def test_conversions_to_half(folder: Path) -> None:
    names = ["convert_half4", *(f"convert_half4{suffix}" for suffix in ROUND if suffix)]
    rows = compute(
        *(folder, "to_half", [f"convert_float4({name}(x))" for name in names]),
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
def test_halves_are_the_same_with_and_without_instructions_for_them(
    folder: Path, processor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if processor == "x86-64-v3" and compiler.processor() != "-march=x86-64-v3":
        processor = "x86-64-v2"
    monkeypatch.setattr(compiler, "processor", lambda: f"-march={processor}")
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    every = every[~np.isnan(every)]
    with np.errstate(over="ignore"):
        between = np.nextafter(every, np.float16(np.inf)).astype(np.float64)
        middle = ((every + between) / 2).astype(np.float32)
        x = np.concatenate([every.astype(np.float32), middle, middle * np.float32(1 + 2.0**-20)])
        x = np.resize(x[np.isfinite(x)], 2**17)
        nearest = x.astype(np.float16)
    rows = compute(
        *(folder, "halves", ["convert_float4(convert_half4(x))"], {"x": x}, np.float32),
    )
    np.testing.assert_array_equal(rows[0], nearest.astype(np.float32))


ASM = {
    "CONV": np.trunc,
    "CONV_RTE": np.rint,
    "CONV_RTZ": np.trunc,
    "CONV_RTP": np.ceil,
    "CONV_RTN": np.floor,
}


def test_conversions_of_viv_asm(folder: Path) -> None:
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
    rows = compute(*(folder, "asm", [*source, clamp, add], {"x": x}, np.int32), before="\n" + macro)
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


# ---- Instructions on registers ------------------------------------------------------------------


@pytest.fixture(scope="session")
def registers(folder: Path) -> Program:
    return compile_vx(KERNELS / "registers.vx", folder / "cache")


def _rows(seed: int, dtype: DTypeLike = np.int16) -> Array:
    return np.random.default_rng(seed).integers(-300, 300, (6, 8)).astype(dtype)


def _neighbours(a: Array, function: Callable[..., Array]) -> Array:
    """Apply a function to lanes i, i + 1 and i + 2, for the first six lanes; 0 for the others."""
    result = np.zeros_like(a)
    result[:, :6] = function(np.stack([a[:, i : i + 6] for i in range(3)]), axis=0)
    return result


def test_lanewise_instructions_on_integers(registers: Program) -> None:
    a, b, c = _rows(1), _rows(2), _rows(3)
    low, high = np.minimum(b, c), np.maximum(b, c)
    stack = np.stack([a, low, high])
    wide = a.astype(int)
    expected = [
        *(stack.max(0), stack.min(0), np.median(stack, 0)),
        *(_neighbours(a, np.max), _neighbours(a, np.min), _neighbours(a, np.median)),
        np.clip(a, low, high),
        np.where((a >= low) & (a <= high), 0, -1),
        np.abs(wide - low),
        np.clip(wide * low >> 4, -32768, 32767),
        np.clip(wide + (low.astype(int) ** 2 >> 4), -32768, 32767),
    ]
    outcome = run(
        *(registers, "neighbours", launch((1, 6))),
        *({"a": a, "b": low, "c": high}, {"result": ((len(expected), 6, 8), "int16")}),
    )
    for index, row in enumerate(expected):
        np.testing.assert_array_equal(outcome.outputs["result"][index], row, err_msg=str(index))


def test_lanewise_instructions_on_halves(registers: Program) -> None:
    a, b, c = (_rows(seed, np.float16) / np.float16(8) for seed in (4, 5, 6))
    low, high = np.minimum(b, c), np.maximum(b, c)
    stack = np.stack([a, low, high])
    wide, other = a.astype(float), low.astype(float)
    bilinear = np.zeros((6, 8))
    for i in range(7):
        upper = wide[:, i] + (wide[:, i + 1] - wide[:, i]) * 0.25
        lower = other[:, i] + (other[:, i + 1] - other[:, i]) * 0.25
        bilinear[:, i] = upper + (lower - upper) * 0.5
    expected = [
        *(stack.max(0), stack.min(0), _neighbours(a, np.max), np.clip(a, low, high)),
        (wide + (other - wide) * 0.25).astype(np.float16),
        bilinear.astype(np.float16),
    ]
    outcome = run(
        *(registers, "halves", launch((1, 6))),
        *({"a": a, "b": low, "c": high}, {"result": ((len(expected), 6, 8), "float16")}),
    )
    for index, row in enumerate(expected):
        np.testing.assert_array_equal(outcome.outputs["result"][index], row, err_msg=str(index))


def test_bit_fields(registers: Program) -> None:
    a = _rows(7)
    outcome = run(
        *(registers, "fields", launch((1, 6)), {"a": a}, {"result": ((1, 6, 8), "int16")}),
    )
    fields = ((0, 4), (4, 4), (8, 4), (12, 4), (16, 4), (20, 8), (24, 1), (120, 8))
    for row, got in zip(a, outcome.outputs["result"][0], strict=True):
        number = int.from_bytes(row.tobytes(), "little")
        np.testing.assert_array_equal(got, [number >> at & (1 << size) - 1 for at, size in fields])


Term = tuple[int, int, int, int, int]  # mode, A's source, A's lane, B's source, B's lane


def _configuration(terms: dict[int, Term], constants: dict[int, int], word7: int = 0) -> bytes:
    """The 16 words of a dot product, as the facts lay them out: field k of each is term k's."""
    words = [0] * 16

    def put(first: int, k: int, width: int, value: int) -> None:
        words[first + k * width // 32] |= value << k * width % 32

    for k, (mode, a_source, a_lane, b_source, b_lane) in terms.items():
        for first, width, value in (
            *((0, 2, mode), (1, 2, a_source), (2, 4, a_lane)),
            *((4, 2, b_source), (5, 4, b_lane)),
        ):
            put(first, k, width, value)
    for k, constant in constants.items():
        put(8, k, 16, constant)
    words[7] = word7
    return np.array(words, np.uint32).tobytes()


_INT16_CONSTANTS = 3 << 8
_DOTS = {
    "dp16x1": (1, "int32"),
    "dp8x2": (2, "int32"),
    "dp4x4": (4, "int32"),
    "dp2x8": (8, "int16"),
}


@pytest.mark.parametrize("kernel", _DOTS)
@pytest.mark.parametrize("shift", [0, 3])
def test_dot_products(registers: Program, kernel: str, shift: int) -> None:
    """Of every 4 terms: A * B, minus A * B, A alone, A times a constant; both operands are A."""
    outputs, dtype = _DOTS[kernel]
    a, b = _rows(8), _rows(9)
    pairs = (a.astype(int), b.astype(int))
    sums = np.zeros((6, outputs))
    terms: dict[int, Term] = {}
    constants: dict[int, int] = {}
    for k in range(16):
        mode = (1, 2, 3, 1)[k % 4]
        source, lane, other = k // 3 % 2, k % 8, (k * 5 + 1) % 8
        constant = k % 4 == 3
        terms[k] = (mode, source, lane, 2 if constant else 1 - source, 0 if constant else other)
        constants[k] = (k - 8) % 65536 if constant else 0
        term = pairs[source][:, lane]
        if constant:
            term = term * (k - 8)
        elif mode != 3:
            term = term * pairs[1 - source][:, other]
        sums[:, k * outputs // 16] += -term if mode == 2 else term
    limits = np.iinfo(dtype)
    expected = np.clip(np.rint(sums / 2**shift), limits.min, limits.max)
    outcome = run(
        *(registers, kernel, launch((1, 6)), {"a": a, "b": b}),
        {"result": ((1, 6, outputs), dtype)},
        uniforms={"configuration": _configuration(terms, constants, _INT16_CONSTANTS | shift)},
    )
    np.testing.assert_array_equal(outcome.outputs["result"][0], expected)


def test_dot_products_between_half_and_float(registers: Program) -> None:
    one = int(np.float16(1).view(np.uint16))
    halves = 1 << 8

    def unpack(first: int) -> bytes:
        terms = {4 * i: (1, 0, first + i, 2, 0) for i in range(4)}
        return _configuration(terms, dict.fromkeys(terms, one), halves)

    packed = {2 * i: (1, i // 4, 2 * (i % 4), 2, 0) for i in range(8)}
    a = _rows(10, np.float16) / np.float16(16)
    outcome = run(
        *(registers, "through_floats", launch((1, 6)), {"a": a}),
        {"result": ((1, 6, 8), "float16")},
        uniforms={
            "unpack_low": unpack(0),
            "unpack_high": unpack(4),
            "pack": _configuration(packed, dict.fromkeys(packed, one), halves),
        },
    )
    wide = a.astype(np.float32)
    expected = np.concatenate([wide[:, :4] ** 2, wide[:, 4:] + 1], 1).astype(np.float16)
    np.testing.assert_array_equal(outcome.outputs["result"][0], expected)


# ---- What else sources are made of --------------------------------------------------------------


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("sanitize", [False, True])
def test_a_source_with_functions_and_tables(folder: Path, debug: bool, sanitize: bool) -> None:
    program = compile_vx(KERNELS / "style.vx", folder / "cache", debug=debug, sanitize=sanitize)
    x = (counted((1, 2, 16), np.float16) / 8).astype(np.float16)
    outcome = run(
        *(program, "style", launch((2, 2, 1), (8, 1, 1)), {"x": x}, {"y": (x.shape, x.dtype)}),
    )
    expected = x.astype(np.float32).reshape(4, 2, 4)
    expected[:, 0, :2] = expected[:, 0, 1::-1].copy()
    expected[:, 1] *= [0.5, 1, 1.5, 2]
    expected[:, 1, 3] += 8
    expected[:, 1, 0] = np.rint(expected[:, 1, 0])
    np.testing.assert_array_equal(outcome.outputs["y"].reshape(4, 2, 4), expected)
    assert program.diagnostics == ""
    assert outcome.printed == f"at 8: {expected[3, 0, 0]:.1f}\n"
