"""The instructions of the PPU on the PC, for every type of element, against numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

from opkit.opencl.pc_compiler import Program
from opkit.runtimes.rknn.vx.compiler import compile_vx
from tests.marks import quick_first
from tests.runtimes.rknn.vx.support import (
    INTEGERS,
    KERNELS,
    UP_TO_32_BITS,
    Array,
    compute,
    launch,
    run,
)

# ---- Of three registers, and of three lanes -----------------------------------------------------

# vector -> dtype
REGISTERS = {
    "vxc_char16": "i1",
    "vxc_uchar16": "u1",
    "vxc_short8": "i2",
    "vxc_ushort8": "u2",
    "vxc_int4": "i4",
    "vxc_uint4": "u4",
    "vxc_half8": "f2",
    "vxc_float4": "f4",
}
# macro call -> its result for a, b, c; lanes are the last axis
VERTICAL: dict[str, Callable[[Array, Array, Array], Any]] = {
    "VXC_VertMax3(r, a, b, c, ALL)": lambda a, b, c: np.max([a, b, c], 0),
    "VXC_VertMin3(r, a, b, c, ALL)": lambda a, b, c: np.min([a, b, c], 0),
    "VXC_VertMed3(r, a, b, c, ALL)": lambda a, b, c: np.median([a, b, c], 0),
    "VXC_Clamp(r, a, low, high, ALL)": lambda a, b, c: np.clip(
        a, np.minimum(b, c), np.maximum(b, c)
    ),
    "VXC_AbsDiff(r, high, low, ALL)": lambda a, b, c: np.abs(b - c),
}


def _three(function: Callable[..., Array]) -> Callable[[Array, Array, Array], Any]:
    return lambda a, b, c: function(np.stack([a[:, :-2], a[:, 1:-1], a[:, 2:]]), axis=0)


def _nine(function: Callable[..., Array]) -> Callable[[Array, Array, Array], Any]:
    def filtered(a: Array, b: Array, c: Array) -> Any:
        windows = [x[:, i : x.shape[1] - 2 + i] for x in (a, b, c) for i in range(3)]
        return function(np.stack(windows), axis=0)

    return filtered


HORIZONTAL: dict[str, Callable[[Array, Array, Array], Any]] = {
    "VXC_HorzMax3(r, a, INNER)": _three(np.max),
    "VXC_HorzMin3(r, a, INNER)": _three(np.min),
    "VXC_HorzMed3(r, a, INNER)": _three(np.median),
}
FILTERS: dict[str, Callable[[Array, Array, Array], Any]] = {
    "VXC_Filter(r, a, b, c, FILTER(VXC_FM_Max))": _nine(np.max),
    "VXC_Filter(r, a, b, c, FILTER(VXC_FM_Min))": _nine(np.min),
    "VXC_Filter(r, a, b, c, FILTER(VXC_FM_Median))": _nine(np.median),
}
INTERPOLATED: dict[str, Callable[[Array, Array, Array], Any]] = {
    "VXC_Lerp(r, a, b, 0.25f, NEAREST)": lambda a, b, c: a + (b - a) * 0.25
}
BILINEAR = "VXC_BiLinear(r, a, b, ((float2)(0.25f, 0.5f)), NEAREST_INNER)"


def _bilinear(version: int, dtype: np.dtype[Any]) -> Callable[[Array, Array, Array], Any]:
    """Return a bilinear filter; version 2 rounds to the register's type between rows, neighbors."""

    def between(a: Array, b: Array, c: Array) -> Any:
        rows = (a + b) / 2
        if version == 2:
            rows = rows.astype(dtype).astype(float) if dtype.kind == "f" else np.rint(rows)
        return (rows[:, :-1] * 0.75 + rows[:, 1:] * 0.25)[:, :-1]

    return between


def _functions(
    version: int, dtype: np.dtype[Any]
) -> dict[str, Callable[[Array, Array, Array], Any]]:
    filters = FILTERS if version == 1 else {}
    return {
        **VERTICAL,
        **HORIZONTAL,
        **filters,
        **INTERPOLATED,
        BILINEAR: _bilinear(version, dtype),
    }


def _kernel(vector: str, version: int) -> str:
    lanes = int(vector.lstrip("vxc_adefghilnorstu"))
    register = {"vxc_half8": "vxc_short8"}.get(vector, vector)
    steps = "\n".join(
        f"    r = ({vector})(0); {call}; VXC_WriteImage2DArray(result, ((int4)(0, row, {z}, 0)), "
        "r, ALL);"
        for z, call in enumerate(_functions(version, np.dtype(REGISTERS[vector])))
    )
    return f"""
#define LAST {lanes - 1}
__kernel void of_{vector}(image2d_t in_a, image2d_t in_b, image2d_t in_c, image2d_array_t result)
{{
    int row = get_global_id(1);
    {register} bits;
    {vector} a, b, c, r, low, high;
    READ(a) READ(b) READ(c)
    low = min(b, c);
    high = max(b, c);
{steps}
}}
#undef LAST
"""


@pytest.fixture(scope="session", params=quick_first(1, [2, 1]))
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="session")
def registers(vx_folder: Path, version: int) -> Program:
    source = vx_folder / f"registers_of_all_{version}.vx"
    source.write_text(
        '#include "cl_viv_vx_ext.h"\n'
        "#define ALL VXC_MODIFIER(0, LAST, 0, VXC_RM_TowardZero, 0)\n"
        "#define INNER VXC_MODIFIER(0, LAST - 2, 0, VXC_RM_TowardZero, 0)\n"
        "#define NEAREST VXC_MODIFIER(0, LAST, 0, VXC_RM_ToNearestEven, 0)\n"
        "#define NEAREST_INNER VXC_MODIFIER(0, LAST - 2, 0, VXC_RM_ToNearestEven, 0)\n"
        "#define FILTER(mode) VXC_MODIFIER_FILTER(0, LAST - 2, 0, mode, 0)\n"
        "#define READ(name) VXC_ReadImage(bits, in_##name, ((int2)(0, row)), 0, ALL); "
        "_viv_asm(COPY, name, bits, 16);\n"
        + "".join(_kernel(vector, version) for vector in REGISTERS)
    )
    return compile_vx(source, vx_folder / "cache", vx_version=version)


def _extremes(dtype: np.dtype[Any], lanes: int) -> list[Array]:
    generator = np.random.default_rng(lanes)
    if dtype.kind == "f":
        numbers = generator.integers(-200, 200, (3, 12, lanes)) / 8
        return list(numbers.astype(dtype))
    limits = np.iinfo(dtype)
    values = [limits.min, limits.max, 0, 1, limits.max // 2, limits.min // 2]
    return list(generator.choice(np.array(values, dtype), (3, 12, lanes)))


@pytest.mark.parametrize("vector", REGISTERS)
def test_register_instructions(registers: Program, version: int, vector: str) -> None:
    dtype = np.dtype(REGISTERS[vector])
    lanes = 16 // dtype.itemsize
    a, b, c = _extremes(dtype, lanes)
    functions = _functions(version, dtype)
    outcome = run(
        *(registers, f"of_{vector}", launch((1, 12)), {"a": a, "b": b, "c": c}),
        {"result": ((len(functions), 12, lanes), dtype)},
    )
    wide = [x.astype(np.float64 if dtype.kind == "f" else np.int64) for x in (a, b, c)]
    for got, (call, function) in zip(outcome.outputs["result"], functions.items(), strict=True):
        expected = np.asarray(function(*wide))
        if dtype.kind != "f":  # without saturation, the low bits
            expected = np.rint(expected).astype(np.int64)
        lanes_set = expected.shape[1]
        np.testing.assert_array_equal(got[:, :lanes_set], expected.astype(dtype), call)
        np.testing.assert_array_equal(got[:, lanes_set:], 0, call)


def test_three_operand_add(vx_folder: Path) -> None:
    source = vx_folder / "sum_of_three.vx"
    source.write_text(
        "__kernel void k(image2d_t a, image2d_t b, image2d_t c, image2d_t y)\n{\n"
        "    vxc_short8 r, s[3];\n    int info = VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 1);\n"
        "    VXC_ReadImage(s[0], a, ((int2)(0, 0)), 0, info);\n"
        "    VXC_ReadImage(s[1], b, ((int2)(0, 0)), 0, info);\n"
        "    VXC_ReadImage(s[2], c, ((int2)(0, 0)), 0, info);\n"
        "    VXC_IAdd(r, s[0], s[1], s[2], info);\n"
        "    VXC_WriteImage(y, ((int2)(0, 0)), r, info);\n}\n"
    )
    program = compile_vx(source, vx_folder / "cache", vx_version=1)
    a, b, c = np.random.default_rng(0).integers(-20000, 20000, (3, 1, 8)).astype(np.int16)
    got = run(*(program, "k", launch((1,)), {"a": a, "b": b, "c": c}, {"y": ((1, 8), "i2")}))
    expected = np.clip(a.astype(int) + b + c, -32768, 32767)
    np.testing.assert_array_equal(got.outputs["y"], expected)


# ---- _viv_asm -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", quick_first(1, UP_TO_32_BITS))
def test_saturating_add(vx_folder: Path, kind: str) -> None:
    low, high = INTEGERS[kind]
    values = np.array([low, high, 0, 1, high // 2, high // 2 + 2], object)
    a, b = (part.reshape(-1) for part in np.meshgrid(values, values))
    wide, vector = (np.int32, "int4") if low < 0 else (np.uint32, "uint4")
    to = f"convert_{vector}"
    expressions = [
        f"__extension__({{ {t} r; _viv_asm({op}, r, {x}, {y}); {done}; }})"
        for op in ("ADDSAT", "SUBSAT")
        for t, x, y, done in (
            (f"{kind}4", "a", "b", f"{to}(r)"),
            (f"vxc_{kind}4", "p", "q", f"{to}(r)"),
            (f"{kind}8", "u", "v", f"{to}(r.hi)"),
            (kind, "p.w", "q.w", f"({vector})(r)"),
        )
    ]
    before = "\n".join(
        [
            f"    {kind}4 a = convert_{kind}4(a_), b = convert_{kind}4(b_);",
            f"    vxc_{kind}4 p, q; _viv_asm(CONV, p, a); _viv_asm(CONV, q, b);",
            f"    {kind}8 u = ({kind}8)(p, p), v = ({kind}8)(q, q);",
        ]
    )
    inputs = {"a_": a.astype(wide), "b_": b.astype(wide)}
    rows = compute(vx_folder, f"sums_{kind}", expressions, inputs, wide, before)
    for index, operation in enumerate((np.add, np.subtract)):
        expected = np.clip(operation(a, b), low, high).astype(wide)
        for row in rows[4 * index : 4 * index + 3]:
            np.testing.assert_array_equal(row, expected)
        np.testing.assert_array_equal(rows[4 * index + 3], np.repeat(expected[3::4], 4))


# ---- Memory -------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def accesses(vx_folder: Path) -> Program:
    return compile_vx(KERNELS / "accesses.vx", vx_folder / "cache")


def test_slice_addressing(accesses: Program) -> None:
    x = np.arange(2 * 3 * 9, dtype=np.int16).reshape(2, 3, 9)
    outcome = run(*(accesses, "slices", launch((1, 3, 2)), {"x": x}, {"y": ((2, 3, 8), "i2")}))
    np.testing.assert_array_equal(outcome.outputs["y"], x[::-1, :, 1:])
    assert outcome.events == []


def test_vector_moves(accesses: Program) -> None:
    x = np.zeros((1, 8), np.int16)
    got = run(*(accesses, "moves", launch((1,)), {"x": x}, {"y": ((6, 8), "i2")})).outputs["y"]
    np.testing.assert_array_equal(got[0], [6, 7, 8, 9, 10, 11, 8, 15])
    np.testing.assert_array_equal(got[1], range(8, 16))
    expected = np.arange(32)
    expected[2:4] = -1
    expected[4:8] = -2
    expected[8:16] = -3
    expected[16:24] = np.int16(-0x0304 & ~0xFF | 0xFC)
    np.testing.assert_array_equal(got[2:].reshape(-1), expected)


def test_arrays_of_all_types(accesses: Program) -> None:
    for element in "char uchar short ushort int uint float".split():
        kinds = [parameter.kind for parameter in accesses.kernels[f"array_of_{element}"].parameters]
        assert kinds == ["array", "tensor"]


# ---- Eight numbers of 16 bits, and dot products -------------------------------------------------


@pytest.fixture(scope="session")
def int16_registers(vx_folder: Path) -> Program:
    return compile_vx(KERNELS / "registers.vx", vx_folder / "cache")


def _rows(seed: int, dtype: DTypeLike = np.int16) -> Array:
    return np.random.default_rng(seed).integers(-300, 300, (6, 8)).astype(dtype)


def test_clamped_integer_instructions(int16_registers: Program) -> None:
    a, b, c = _rows(1), _rows(2), _rows(3)
    low, high = np.minimum(b, c), np.maximum(b, c)
    wide, other = a.astype(int), low.astype(int)
    expected = [
        np.where((a >= low) & (a <= high), -1, 0),
        np.clip(wide * other >> 4, -32768, 32767),
        np.clip(wide + (other**2 >> 4), -32768, 32767),
    ]
    outcome = run(
        *(int16_registers, "clamped", launch((1, 6)), {"a": a, "b": low, "c": high}),
        {"result": ((3, 6, 8), "int16")},
    )
    np.testing.assert_array_equal(outcome.outputs["result"], expected)


def test_bit_fields(int16_registers: Program) -> None:
    a, b = _rows(7), _rows(8)
    outcome = run(
        *(int16_registers, "fields", launch((1, 6)), {"a": a, "b": b}),
        {"result": ((1, 6, 8), "int16")},
    )
    fields = ((0, 4), (4, 4), (20, 8), (120, 16), (128, 16), (136, 3), (248, 8), (255, 1))
    for low, high, got in zip(a, b, outcome.outputs["result"][0], strict=True):
        number = int.from_bytes(low.tobytes() + high.tobytes(), "little")
        expected = [number >> at & (1 << size) - 1 for at, size in fields]
        np.testing.assert_array_equal(got, np.array(expected).astype(np.int16))


Term = tuple[int, int, int, int, int]  # mode, A's source, A's lane, B's source, B's lane


def _configuration(terms: dict[int, Term], constants: dict[int, int], word7: int = 0) -> bytes:
    """Return the 16 words of a dot product: field k of each group belongs to term k."""
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


_INT16_CONSTANTS = 3 << 8 | 3 << 12  # and an accumulator of the same type
_DOTS = {
    "dp16x1": (1, "int32"),
    "dp8x2": (2, "int32"),
    "dp4x4": (4, "int32"),
    "dp2x8": (8, "int16"),
}


@pytest.mark.parametrize("kernel", _DOTS)
@pytest.mark.parametrize("shift", [0, 3])
def test_dot_products(int16_registers: Program, kernel: str, shift: int) -> None:
    """Every 4 terms: A * B, minus A * B, A alone, A times a constant; both operands are A."""
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
        *(int16_registers, kernel, launch((1, 6)), {"a": a, "b": b}),
        {"result": ((1, 6, outputs), dtype)},
        uniforms={"configuration": _configuration(terms, constants, _INT16_CONSTANTS | shift)},
    )
    np.testing.assert_array_equal(outcome.outputs["result"][0], expected)
    assert outcome.events == []


def test_dot_products_between_half_and_float(int16_registers: Program) -> None:
    one = int(np.float16(1).view(np.uint16))
    halves = 1 << 8

    def unpack(first: int) -> bytes:
        terms = {4 * i: (1, 0, first + i, 2, 0) for i in range(4)}
        return _configuration(terms, dict.fromkeys(terms, one), halves)

    packed = {2 * i: (1, i // 4, 2 * (i % 4), 2, 0) for i in range(8)}
    a = _rows(10, np.float16) / np.float16(16)
    outcome = run(
        *(int16_registers, "through_floats", launch((1, 6)), {"a": a}),
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


# ---- Values computed by hand --------------------------------------------------------------------

ALL = "VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0)"
HAND = """
_viv_uniform VXC_512Bits table;
__kernel void k(image2d_t in, image2d_array_t result)
{{
    {declared}
    vxc_short8 a;
    VXC_ReadImage(a, in, ((int2)(0, 0)), 0, VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0));
    {statements}
}}
"""


def by_hand(
    folder: Path,
    name: str,
    declared: str,
    statements: str,
    values: Sequence[int] = range(8),
    result: tuple[tuple[int, ...], DTypeLike] = ((1, 8), "int16"),
    table: bytes = bytes(64),
    version: int = 2,
) -> tuple[list[Any], list[str]]:
    """Return a kernel's output and events; `a` is eight values of int16."""
    source = folder / f"{name}.vx"
    uses_table = "" if "table" in statements else "(void)table;"
    source.write_text(HAND.format(declared=declared, statements=uses_table + statements))
    program = compile_vx(source, folder / "cache", vx_version=version)
    x = np.array([values], np.int16)
    outcome = run(
        *(program, "k", launch((1,)), {"in": x}, {"result": result}), uniforms={"table": table}
    )
    return outcome.outputs["result"].ravel().tolist(), [event.kind for event in outcome.events]


def test_write_begins_at_start_bin(vx_folder: Path) -> None:
    got, events = by_hand(
        *(vx_folder, "start_bin", ""),
        "VXC_WriteImage(result, ((int2)(0, 0)), a, VXC_MODIFIER(3, 6, 0, VXC_RM_TowardZero, 0));",
        result=((1, 4), "int16"),
    )
    assert (got, events) == ([3, 4, 5, 6], [])


def test_addend_has_type_of_accumulator(vx_folder: Path) -> None:
    # A multiplier and, in lanes 2 and 3, an addend of 32 bits: 3 * 7 + 0x12345 = 74586.
    terms = {0: (1, 0, 0, 0, 1), 1: (3, 0, 1, 0, 0)}
    got, events = by_hand(
        *(vx_folder, "addend", "int4 r = (int4)(0);"),
        "VXC_DP16x1(r, a, a, VXC_MODIFIER(0, 0, 0, VXC_RM_TowardZero, 0), table);"
        "write_imagei(result, (int2)(0, 0), r);",
        values=(3, 7, 0x2345, 1, 0, 0, 0, 0),
        result=((1, 4), "int32"),
        table=_configuration(terms, {}, 2 << 12),
    )
    assert (got, events) == ([74586, 0, 0, 0], [])


@pytest.mark.parametrize(
    ("small", "values", "expected"),
    [("char4", (5, -6, 127, -128), [5, -6, 127, -128]), ("uchar4", (1, 200, 3, 255), None)],
)
def test_addends_of_unpacked_vector(
    vx_folder: Path, small: str, values: tuple[int, ...], expected: list[int] | None
) -> None:
    terms = {4 * i: (3, 0, i, 0, 0) for i in range(4)}
    got, events = by_hand(
        *(vx_folder, f"unpacked_{small}", f"{small} s; int4 r;"),
        "_viv_asm(CONV, s, (int4)(a.s0, a.s1, a.s2, a.s3));"
        "VXC_DP4x4(r, s, s, VXC_MODIFIER(0, 3, 0, VXC_RM_TowardZero, 0), table);"
        "write_imagei(result, (int2)(0, 0), r);",
        values=(*values, 0, 0, 0, 0),
        result=((1, 4), "int32"),
        table=_configuration(terms, {}, 2 << 12),
    )
    assert (got, events) == (expected or list(values), [])


def test_products_of_32_bits_are_exact(vx_folder: Path) -> None:
    # 16 times 0x7fffffff squared is 2**66 - 2**36 + 16.
    terms = dict.fromkeys(range(16), (1, 0, 0, 1, 0))
    for shift, clamp, expected in ((0, 0, 16), (31, 0, -32), (0, 1, 2**31 - 1)):
        got, events = by_hand(
            *(vx_folder, f"exact_{shift}_{clamp}", "int4 r, n = (int4)(0x7fffffff);"),
            f"VXC_DP16x1(r, n, n, VXC_MODIFIER(0, 0, 0, VXC_RM_TowardZero, {clamp}), table);"
            "write_imagei(result, (int2)(0, 0), r);",
            result=((1, 4), "int32"),
            table=_configuration(terms, {}, shift),
        )
        assert (got[0], events) == (expected, [])


def test_float_rounded_toward_infinity(vx_folder: Path) -> None:
    one = int(np.float16(1).view(np.uint16))
    rest = int(np.float16(2.0**-14).view(np.uint16))
    # 16384 + 2**-14, and -16384 + -2**-14: the next floats are 2**-10 apart.
    terms = {0: (1, 0, 0, 2, 0), 1: (1, 0, 1, 2, 0), 4: (2, 0, 0, 2, 0), 5: (2, 0, 1, 2, 0)}
    got, _ = by_hand(
        *(vx_folder, "upward", "float4 r;"),
        "VXC_DP4x4(r, a, a, VXC_MODIFIER(0, 1, 0, VXC_RM_TowardInf, 0), table);"
        "r.zw = (float2)(0.0f); write_imagef(result, (int2)(0, 0), r);",
        values=(16384, 1, 0, 0, 0, 0, 0, 0),
        result=((1, 4), "float32"),
        table=_configuration(terms, {0: one, 1: rest, 4: one, 5: rest}, 1 << 8),
    )
    assert got == [16384 + 2.0**-9, -16384, 0, 0]


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("VXC_SelectAdd(r, a, b, c, ALL)", [14, 12, 10, 8, 6, 4, 2, 0]),
        ("VXC_IAdd(r, a, b, c, ALL)", [7, 8, 9, 10, 11, 12, 13, 14]),
        ("VXC_MulShift(r, a, b, 1, ALL)", [0, 0, 2, 4, 8, 12, 18, 24]),
        ("VXC_IAccSq(r, a, b, 2, ALL)", [0, 1, 3, 5, 8, 11, 15, 19]),
        ("VXC_AbsDiff(r, a, c, ALL)", [7, 5, 3, 1, 1, 3, 5, 7]),
        ("VXC_Lerp(r, a, c, 0.5f, ALL)", [3, 3, 3, 3, 3, 3, 3, 3]),
    ],
)
def test_instructions_of_version_1(vx_folder: Path, instruction: str, expected: list[int]) -> None:
    got, events = by_hand(
        *(vx_folder, f"hand_{instruction[4:8]}", "vxc_short8 b, c, r;"),
        f"b = a; c = a.s76543210; {instruction.replace('ALL', ALL)};"
        f"VXC_WriteImage(result, ((int2)(0, 0)), r, {ALL});",
        version=1,
    )
    assert (got, events) == (expected, [])


def test_magnitude_and_phase(vx_folder: Path) -> None:
    got, events = by_hand(
        *(vx_folder, "polar", "vxc_half8 x, y, r; vxc_short8 bits;"),
        "_viv_asm(CONV, x, a); y = (vxc_half8)(4, 12, 0, 1, 0, 0, 0, 0);"
        f"VXC_MagPhase(r, x, y, {ALL.replace('TowardZero', 'ToNearestEven')});"
        f"_viv_asm(COPY, bits, r, 16); VXC_WriteImage(result, ((int2)(0, 0)), r, {ALL});",
        values=(3, 5, 7, 0, 0, 0, 0, 0),
        result=((1, 8), "float16"),
        version=1,
    )
    assert (got[:4], events) == ([5, 13, 7, 1], [])
    np.testing.assert_allclose(got[4:], np.arctan2([4, 12, 0, 1], [3, 5, 7, 0]), 2**-10)


def test_clamp_to_bool_of_halves(vx_folder: Path) -> None:
    got, _ = by_hand(
        *(vx_folder, "inside", "vxc_half8 x, r, low = (vxc_half8)(2), high = (vxc_half8)(5);"),
        "_viv_asm(CONV, x, a); VXC_Clamp(r, x, low, high, VXC_MODIFIER_CLAMP(0, 7, 0, 1));"
        f"_viv_asm(COPY, a, r, 16); VXC_WriteImage(result, ((int2)(0, 0)), a, {ALL});",
    )
    assert got == [0, 0, -1, -1, -1, -1, 0, 0]


def test_results_through_pointers(vx_folder: Path) -> None:
    got, events = by_hand(
        *(vx_folder, "pointers", "vxc_short8 many[2]; vxc_short8 *p = many + 1;"),
        f"VXC_AbsDiff(*p, a, a, {ALL}); VXC_OP4(img_load, many[0], in, ((int2)(1, 0)), 0,"
        " VXC_MODIFIER(0, 3, 0, VXC_RM_TowardZero, 0)); p[0].s4567 = p[-1].s0123;"
        " VXC_OP3_NoDest(vstore2, p, 2, (vxc_short2)(70, 71)); VXC_OP2(vload2, p->s23, many, 0);"
        f"VXC_OP4_NoDest(img_store, result, ((int2)(0, 0)), *p, {ALL});",
    )
    assert (got, events) == ([0, 70, 1, 2, 1, 2, 3, 4], [])


_NO_TERMS = "VXC_DP16x1(r, a, a, {}, table)"
UNKNOWN = {
    _NO_TERMS.format("VXC_MODIFIER(0, 0, 1, VXC_RM_TowardZero, 0)"): "SourceBin",
    _NO_TERMS.format("VXC_DEFAULT_MODIFIER"): "VXC_DEFAULT_MODIFIER stands for",
    "VXC_MagPhase(r, a, a, VXC_MODIFIER_BIN(0, 7, 0))": "the unit of an angle",
}


@pytest.mark.parametrize("instruction", UNKNOWN)
def test_unknown_meaning_is_an_event(vx_folder: Path, instruction: str) -> None:
    name = f"unknown_{list(UNKNOWN).index(instruction)}"
    _, events = by_hand(vx_folder, name, "vxc_short8 r;", f"{instruction};", version=1)
    assert any("unknown: " in event and UNKNOWN[instruction] in event for event in events)


def test_addend_of_another_kind_is_an_event(vx_folder: Path) -> None:
    table = _configuration({0: (3, 0, 0, 0, 0)}, {}, 0 << 12)
    _, events = by_hand(
        *(vx_folder, "kinds", "int4 r, n = (int4)(1);"),
        "VXC_DP16x1(r, n, n, VXC_MODIFIER(0, 0, 0, VXC_RM_TowardZero, 0), table);",
        table=table,
    )
    assert events == ["dot product: unknown: adds elements in an accumulator of another kind"]


def test_modifier_masks(vx_folder: Path) -> None:
    got, _ = by_hand(
        *(vx_folder, "masks", "vxc_modifier m = VXC_MODIFIER(5, 9, 3, VXC_RM_ToNearestEven, 1);"),
        "m = VXC_MODIFIER_SetDestClamp(m, 0); write_imagei(result, (int2)(0, 0), (int4)("
        "(m & VXC_START_BIN_BITMASK) >> 12, (m & VXC_END_BIN_BITMASK) >> 8,"
        "(m & VXC_SOURCE_BIN_BITMASK) >> 4, (m & VXC_ROUNDING_MODE_BITMASK) >> 2));"
        "write_imagei(result, (int2)(4, 0), (int4)(m & VXC_CLAMP_BITMASK,"
        "(VXC_MODIFIER_SetDestClamp(m, 1) & VXC_CLAMP_BITMASK) >> 22, 0, 0));",
        result=((1, 8), "int32"),
    )
    assert got == [5, 9, 3, 2, 0, 1, 0, 0]
