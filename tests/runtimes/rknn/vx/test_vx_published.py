"""Idioms of published kernels: macros, conditionals, dot products of 32 terms, and the files.

The kernels here are the project's. Set PUBLISHED_VX to a folder of published `.vx` files, each with
its common header in front, to compile those as well.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import DTypeLike

from opkit.common.errors import OpkitError
from opkit.opencl import clang
from opkit.opencl.pc_compiler import Program
from opkit.opencl.source_reader import Broken, read
from opkit.runtimes.rknn.vx.compiler import compile_vx
from tests.marks import quick_first
from tests.runtimes.rknn.vx.support import Array, launch, run

PUBLISHED = os.environ.get("PUBLISHED_VX", "")
# Files that no compiler takes: names that nothing declares, a macro without its last lines.
_MALFORMED = 4


def compiled(
    folder: Path, name: str, text: str, kernels: list[str] | None = None, vx_version: int = 2
) -> Program:
    source = folder / f"published_{name}.vx"
    source.write_text(text)
    return compile_vx(source, folder / "cache", kernels=kernels, vx_version=vx_version)


def outputs(
    program: Program,
    kernel: str,
    inputs: Mapping[str, Array],
    shape: tuple[int, ...],
    dtype: DTypeLike,
    uniforms: Mapping[str, bytes] | None = None,
) -> Array:
    outcome = run(
        *(program, kernel, launch((1, 1, 1)), inputs, {"y": (shape, dtype)}), uniforms=uniforms
    )
    assert outcome.events == []
    return outcome.outputs["y"]


# ---- Corrections in macros -----------------------------------------------------------------------

MACRO = """\
#include "cl_viv_vx_ext.h"
#define LANES(last) VXC_MODIFIER(0, last, 0, VXC_RM_TowardZero, 0)
#define RELU(name, type, last) \\
__kernel void name(image2d_array_t x, image2d_array_t y) \\
{ \\
    int4 at = (int4)(get_global_id(0), 0, 0, 0); \\
    type v; \\
    VXC_ReadImage2DArray(v, x, at, 0, LANES(last)); \\
    v = v < THRESHOLD ? 0 : v; \\
    VXC_WriteImage2DArray(y, at, v, LANES(last)); \\
}
#if VX_VERSION == 2 && INT_MAX == 0x7fffffff && defined(VXC_DP4x4)
#define THRESHOLD (1 + 1)
#endif
RELU(relu_16, vxc_short8, 7)

RELU(relu_8, vxc_char16, 15)
"""


@pytest.fixture(scope="module")
def macro(vx_folder: Path) -> Program:
    return compiled(vx_folder, "macro", MACRO)


@pytest.mark.parametrize(
    ("kernel", "dtype", "lanes"), [("relu_16", np.int16, 8), ("relu_8", np.int8, 16)]
)
def test_kernels_in_macros(macro: Program, kernel: str, dtype: DTypeLike, lanes: int) -> None:
    x = np.arange(-4, lanes - 4).astype(dtype).reshape(1, 1, lanes)
    got = outputs(macro, kernel, {"x": x}, x.shape, dtype)
    np.testing.assert_array_equal(got, np.where(x < 2, 0, x))


def test_corrections_in_macros_name_the_line_of_the_use(macro: Program) -> None:
    lines = macro.diagnostics.splitlines()
    places = {line.partition(": warning: ")[0] for line in lines}
    assert places == {f"{macro.source}:{number}" for number in (15, 17)}
    assert all("the portable spelling" in line for line in lines)


def test_errors_beside_corrected_macros(vx_folder: Path) -> None:
    text = MACRO + "#define MORE(v) \\\n    v = v < 1; \\\n    undeclared(v);\n"
    text += "__kernel void more(image2d_array_t x)\n{\n    vxc_short8 v = 1;\n    MORE(v)\n}\n"
    with pytest.raises(OpkitError, match=r"_error.vx:24: error: .*'undeclared'") as caught:
        compiled(vx_folder, "macro_error", text)
    assert "portable" not in str(caught.value)
    assert "RELU" not in str(caught.value)


def test_included_macros(vx_folder: Path) -> None:
    """A macro of a header counts as the source's; a change of the header is seen."""
    header = vx_folder / "published_header.h"
    text = '#include "published_header.h"\n__kernel void k(image2d_t y) {\n    int4 v = 7;\n'
    text += "    BELOW(v)\n    write_imagei(y, (int2)(0), v);\n}\n"
    for limit, expected in ((8, 1), (6, 7)):
        header.write_text(f"#define BELOW(v) \\\n    v = v < {limit}u ? 1 : v;\n")
        program = compiled(vx_folder, "included", text)
        assert outputs(program, "k", {}, (1, 4), "int32").tolist() == [[expected] * 4]
        assert program.diagnostics.startswith(f"{program.source}:4: warning: scalar operand")


def test_local_memory_in_corrected_macros(vx_folder: Path) -> None:
    text = (
        "#define K(name) \\\n__kernel void name(image2d_t y) \\\n{ \\\n"
        "    __local int s[4], *p = s; \\\n"
        "    int4 v = 3; v = v < 4u ? 5 : v; p[1] = v.s0; \\\n"
        "    write_imagei(y, (int2)(0), (int4)(s[1])); \\\n}\nK(a)\n"
    )
    program = compiled(vx_folder, "local", text)
    assert outputs(program, "a", {}, (1, 4), "int32").tolist() == [[5, 5, 5, 5]]


def test_pasted_parenthesis(vx_folder: Path) -> None:
    text = (
        "#define K(name) __kernel void of_##name##( image2d_t y) \\\n"
        "    { write_imagei(y, (int2)(0), (int4)(3)); }\nK(a)\nK(b)\n"
    )
    program = compiled(vx_folder, "paste", text)
    assert list(program.kernels) == ["of_a", "of_b"]
    assert f"{program.source}:3:1: warning: pasting formed 'of_a('" in program.diagnostics
    assert outputs(program, "of_b", {}, (1, 4), "int32").tolist() == [[3, 3, 3, 3]]


# ---- Spellings that OpenCL C does not have -------------------------------------------------------

# statements -> the eight numbers that they leave in `v`
SPELLINGS = {
    "v = m == 1 ? v : 0;": [5, 0, 5, 0, 5, 0, 5, 0],
    "v = m == 1 ? 0 : v;": [0, 5, 0, 5, 0, 5, 0, 5],
    "vxc_short4 z = convert_short4(f); v.s0123 = z;": [2, 2, 2, 2, 5, 5, 5, 5],
    "vxc_short4 z; z = convert_short4(f); v.s4567 = z;": [5, 5, 5, 5, 2, 2, 2, 2],
    "vxc_float4 s = {0.0f}; v.s0 = s.x; v.s3 = s.w;": [0, 5, 5, 0, 5, 5, 5, 5],
    "int4 s = {0, 0}; v.s01 = (vxc_short2)(s.x, s.w);": [0, 0, 5, 5, 5, 5, 5, 5],
    "float4 s = convert_float4(f.x); v.s7 = s.w;": [5, 5, 5, 5, 5, 5, 5, 2],
    "vxc_short8 w = m; short *p = (short *)&w; VXC_Vstore3(p, 1, v.s012); v = w;": (
        [1, 0, 1, 0, 5, 5, 5, 0]
    ),
    "vxc_short4 z = 9; short *p = (short *)&m; VXC_Vload3(z, p, 0); v.s0123 = z;": (
        [1, 0, 1, 9, 5, 5, 5, 5]
    ),
    "vxc_char16 *p = &v; v.s1 = p == 0;": [5, 0, 5, 5, 5, 5, 5, 5],
}


@pytest.mark.parametrize("statements", quick_first(1, SPELLINGS))
@pytest.mark.parametrize("place", ["body", "macro"])
def test_spellings(vx_folder: Path, statements: str, place: str) -> None:
    number = list(SPELLINGS).index(statements)
    defined = f"#define STATEMENTS {statements}\n" if place == "macro" else ""
    program = compiled(
        vx_folder,
        f"spelling_{place}_{number}",
        f"{defined}__kernel void k(image2d_t y)\n{{\n    float4 f = (float4)(2.5f);\n"
        "    vxc_short8 v = (vxc_short8)(5), m = (vxc_short8)(1, 0, 1, 0, 1, 0, 1, 0);\n"
        f"    {'STATEMENTS' if defined else statements}\n"
        "    VXC_WriteImage(y, (int2)(0), v, VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0));\n}\n",
    )
    assert outputs(program, "k", {}, (1, 8), "int16").tolist() == [SPELLINGS[statements]]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("float4 s = {1.0f, 2.0f};", "too few elements .*; what the board's compiler makes of"),
        ("float4 s = convert_float4((int2)(1));", "convert_float4 needs a scalar, or a value of"),
        ("vxc_short4 z = (short4)(1);", "not packed: 32 bits for each"),
    ],
)
def test_ambiguous_spellings(vx_folder: Path, statement: str, message: str) -> None:
    text = f"__kernel void k(image2d_t y)\n{{\n    {statement}\n}}\n"
    with pytest.raises(OpkitError, match=rf":3:\d+: error: .*{message}"):
        compiled(vx_folder, f"ambiguous_{message[:3]}", text)


# ---- The kernel that runs ------------------------------------------------------------------------

TWO = """\
#include "cl_viv_vx_ext.h"
void helper(vxc_short8 v)
{
    VXC_Gather(v, v, v, 0);
}
__kernel void known(image2d_t y) { write_imagei(y, (int2)(0), (int4)(6)); }
__kernel void unknown(image2d_t y)
{
    vxc_short8 v = 1;
    helper(v);
    VXC_DP4x8_b(v, v, v, v, 0, (VXC_512Bits)(0));
    write_imagei(y, (int2)(0), (int4)(6));
}
"""


def test_unknown_instructions_of_other_kernels(vx_folder: Path) -> None:
    program = compiled(vx_folder, "two", TWO, kernels=["known"])
    assert outputs(program, "known", {}, (1, 4), "int32").tolist() == [[6, 6, 6, 6]]


@pytest.mark.parametrize("kernels", [["unknown"], None])
def test_unknown_instructions_of_the_kernel_that_runs(
    vx_folder: Path, kernels: list[str] | None
) -> None:
    with pytest.raises(OpkitError) as caught:
        compiled(vx_folder, "two", TWO, kernels=kernels)
    message = str(caught.value)
    assert ":4:5: error: VXC_Gather is not emulated: the unit of an offset" in message
    assert ":11:5: error: VXC_DP4x8_b is not emulated: how its configuration" in message
    assert "__opkit" not in message


# ---- Dot products of 32 terms, and of three registers --------------------------------------------


def _packed(first: int, width: int, fields: Mapping[int, int]) -> list[tuple[int, int]]:
    """Return (bit of the configuration, value) of fields, as the facts lay them out."""
    return [(32 * first + k * width, value) for k, value in fields.items()]


def _words(*parts: list[tuple[int, int]]) -> bytes:
    number = 0
    for bit, value in (pair for part in parts for pair in part):
        number |= value << bit
    return number.to_bytes(64, "little")


def _of_32(
    terms: Mapping[int, tuple[int, int, int]], shift: int = 0, constant_type: int = 7
) -> bytes:
    """Return the configuration of 32 terms: term -> mode, bin (16 and more: of B), constant."""
    return _words(
        _packed(0, 2, {k: term[0] for k, term in terms.items()}),
        _packed(2, 5, {k: term[1] for k, term in terms.items()}),
        [(7 * 32, shift | constant_type << 8)],
        _packed(8, 8, {k: term[2] & 255 for k, term in terms.items()}),
    )


DOT = """\
#include "cl_viv_vx_ext.h"
_viv_uniform VXC_512Bits table;
#define LANES(last) VXC_MODIFIER(0, last, 0, VXC_RM_TowardZero, 0)
__kernel void of_32(image2d_t in_a, image2d_t in_b, image2d_t y)
{
    vxc_uchar16 a, b;
    vxc_short8 sums = 0;
    VXC_ReadImage(a, in_a, (int2)(0), 0, LANES(15));
    VXC_ReadImage(b, in_b, (int2)(0), 0, LANES(15));
    FORM(sums, a, b, LANES(OUTPUTS - 1), table);
    VXC_WriteImage(y, (int2)(0), sums, LANES(7));
}
"""
_RANDOM = np.random.default_rng(22)
BYTES_A, BYTES_B = (_RANDOM.integers(0, 50, (1, 16)).astype(np.uint8) for _ in range(2))


@pytest.mark.parametrize(("form", "count"), [("32x1", 1), ("16x2", 2), ("8x4", 4), ("4x8", 8)])
def test_dot_products_of_32_terms(vx_folder: Path, form: str, count: int) -> None:
    """All bins of both registers, both signs, constants of 8 bits, a shift."""
    modes = _RANDOM.integers(0, 3, 32)
    bins, constants = _RANDOM.permutation(32), _RANDOM.integers(-128, 128, 32)
    terms = {k: (int(modes[k]), int(bins[k]), int(constants[k])) for k in range(32)}
    text = DOT.replace("FORM", f"VXC_DP{form}").replace("OUTPUTS", str(count))
    program = compiled(vx_folder, f"dot_{form}", text)
    got = outputs(
        *(program, "of_32", {"a": BYTES_A, "b": BYTES_B}, (1, 8), "int16"),
        uniforms={"table": _of_32(terms, shift=3, constant_type=4)},
    )
    elements = np.concatenate([BYTES_A[0], BYTES_B[0]]).astype(int)[bins]
    products = elements * constants * np.array([0, 1, -1])[modes]
    sums = np.trunc(products.reshape(count, -1).sum(1) / 8).astype(np.int16)
    assert got[0].tolist() == [*sums.tolist(), *[0] * (8 - count)]


@pytest.mark.parametrize(
    ("terms", "constant_type", "event"),
    [
        ({0: (3, 0, 0)}, 7, "dot product: unknown: adds A alone, with 32 terms"),
        ({0: (1, 0, 1)}, 3, "dot product: constants of more than 8 bits"),
    ],
)
def test_unknown_parts_of_32_terms(
    vx_folder: Path, terms: dict[int, tuple[int, int, int]], constant_type: int, event: str
) -> None:
    program = compiled(
        vx_folder, "dot_8x4", DOT.replace("FORM", "VXC_DP8x4").replace("OUTPUTS", "4")
    )
    outcome = run(
        *(program, "of_32", launch((1,)), {"a": BYTES_A, "b": BYTES_B}, {"y": ((1, 8), "int16")}),
        uniforms={"table": _of_32(terms, constant_type=constant_type)},
    )
    assert [each.kind for each in outcome.events] == [event]


def test_dot_products_of_sixteen_outputs(vx_folder: Path) -> None:
    """They exist in version 1 only."""
    terms = {k: (1, k, 1) for k in range(32)}
    text = DOT.replace("vxc_short8 sums", "vxc_uchar16 sums").replace("LANES(7)", "LANES(15)")
    text = text.replace("FORM", "VXC_DP2x16").replace("OUTPUTS", "16")
    program = compiled(vx_folder, "dot_2x16", text, vx_version=1)
    got = outputs(
        *(program, "of_32", {"a": BYTES_A, "b": BYTES_B}, (1, 16), "uint8"),
        uniforms={"table": _of_32(terms)},
    )
    elements = np.concatenate([BYTES_A[0], BYTES_B[0]])
    assert got[0].tolist() == elements.reshape(16, 2).sum(1).tolist()


WIDE = """\
#include "cl_viv_vx_ext.h"
_viv_uniform VXC_512Bits table;
#define LANES(last) VXC_MODIFIER(0, last, 0, VXC_RM_TowardZero, 0)
__kernel void wide(image2d_t in_a, image2d_t in_b, image2d_t y)
{
    vxc_uchar32 a;
    vxc_short8 weights;
    int4 sums = 0;
    VXC_ReadImage(a.hi, in_a, (int2)(0), 0, LANES(15));
    VXC_ReadImage(a.lo, in_a, (int2)(16, 0), 0, LANES(15));
    VXC_ReadImage(weights, in_b, (int2)(0), 0, LANES(7));
    VXC_DP8x2_b(sums, a.hi, a.lo, weights, VXC_MODIFIER(1, 2, 0, VXC_RM_TowardZero, 0), table);
    write_imagei(y, (int2)(0), sums);
}
"""


@pytest.mark.parametrize("first", [0, 8, 14, 20])
def test_dot_products_over_three_registers(vx_folder: Path, first: int) -> None:
    """A window slides over 32 elements, from the high register into the low one."""
    a = _RANDOM.integers(0, 256, (1, 32)).astype(np.uint8)
    weights = _RANDOM.integers(-99, 99, (1, 8)).astype(np.int16)
    places = {k: first + k % 8 + 2 * (k // 8) for k in range(16)}
    table = _words(
        _packed(0, 2, dict.fromkeys(range(16), 1)),
        _packed(1, 2, {k: place // 16 for k, place in places.items()}),
        _packed(2, 4, {k: place % 16 for k, place in places.items()}),
        _packed(5, 4, {k: k % 8 for k in range(16)}),
    )
    program = compiled(vx_folder, "wide", WIDE)
    inputs: dict[str, Array] = {"a": a, "b": weights}
    got = outputs(program, "wide", inputs, (1, 4), "int32", uniforms={"table": table})
    elements = a[0].astype(int)
    sums = [int(elements[s : s + 8] @ weights[0]) for s in (first, first + 2)]
    assert got.tolist() == [[0, *sums, 0]]


# ---- Variables that nothing has set --------------------------------------------------------------

CLEARED = """\
#include "cl_viv_vx_ext.h"
_viv_uniform VXC_512Bits zeros;
#define LANES VXC_MODIFIER(0, 7, 0, VXC_RM_TowardZero, 0)
#define CLEAR(v) VXC_DP2x8(v, v, v, LANES, zeros)
__kernel void k(image2d_t y)
{
    vxc_half8 cleared;
    vxc_short8 bits, read, loaded;
    float4 unset, part;

    part.s0 = 1.0f;
    CLEAR(cleared);
    _viv_asm(COPY, bits, cleared, 16);
    VXC_ReadImage(read, y, (int2)(0), 0, LANES);
    VXC_Vload8(loaded, &bits, 0);
    bits = bits + read - read + loaded;
    unset = unset + part;
    VXC_WriteImage(y, (int2)(0), bits, LANES);
}
"""


def test_cleared_register_is_zero(vx_folder: Path) -> None:
    """A table of zeros clears a register that holds NaNs."""
    program = compiled(vx_folder, "cleared", CLEARED)
    zeros = _words(
        _packed(0, 2, dict.fromkeys(range(0, 16, 2), 1)),
        _packed(2, 4, {k: k // 2 for k in range(0, 16, 2)}),
        _packed(4, 2, dict.fromkeys(range(16), 2)),
        [(7 * 32 + 8, 1)],
    )
    assert outputs(program, "k", {}, (1, 8), "int16", uniforms={"zeros": zeros}).tolist() == [
        [0] * 8
    ]


def test_unset_variables_have_their_line(vx_folder: Path) -> None:
    program = compiled(vx_folder, "cleared", CLEARED)
    assert program.diagnostics.splitlines() == list(program.unset)
    assert [line.partition("; ")[0] for line in program.unset] == [
        f"{program.source}:{number}: warning: variable '{name}' is uninitialized"
        for number, name in ((12, "cleared"), (17, "unset"))
    ]


# ---- The published files -------------------------------------------------------------------------


@pytest.mark.skipif(not PUBLISHED, reason="PUBLISHED_VX names no folder")
def test_published_files_compile(vx_folder: Path) -> None:
    sources = sorted(Path(PUBLISHED).glob("*.vx"))
    flags = clang.code(True, False)
    cache = (vx_folder / "cache").resolve()
    broken = [
        source.name
        for source in sources
        if isinstance(read(source, cache, clang.language(2), flags), Broken)
    ]
    assert len(sources) > _MALFORMED
    assert len(broken) <= _MALFORMED, broken
