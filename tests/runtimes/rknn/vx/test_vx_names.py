"""The reserved names for kernels: the language's, and names that begin with opkit."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from opkit.opencl import clang
from opkit.opencl.clang import macros
from opkit.runtimes.rknn.vx.compiler import compile_vx
from tests.compiling import compile_c
from tests.repositories import ROOT
from tests.runtimes.rknn.host_build import vx_runtime
from tests.runtimes.rknn.vx.support import launch, param, run

OWN = re.compile(r"__opkit_|__OPKIT_")

_WHOLE = "char uchar short ushort int uint long ulong".split()
_LANES = "2 3 4 8 16".split()
_ROUNDINGS = ["", "_rte", "_rtz", "_rtp", "_rtn"]


def joined(*parts: list[str] | str) -> set[str]:
    """Return all concatenations of one word of each part; a part's words are split by spaces."""
    words = [part.split() if isinstance(part, str) else part for part in parts]
    return {"".join(each) for each in product(*words)}


_VECTORS = joined([*_WHOLE, "half", "float", "double"], _LANES)
_TYPES = {*_WHOLE, "half", "float", "double", *_VECTORS}
LANGUAGE = {
    # types
    *("uchar", "ushort", "uint", "ulong", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t"),
    *_VECTORS,
    *joined("vx_array_", "char uchar short ushort int uint float"),
    *joined("vxc_", "char uchar short ushort half", ["", "2", "3", "4", "8"]),
    *joined("vxc_", "int uint float", ["", *_LANES]),
    *joined("vxc_", "char16 uchar16 char32 uchar32 short16 ushort16 half16 512bits 128bits"),
    *("VXC_512Bits", "VXC_128Bits", "VXC_Modifier_t", "event_t"),
    *joined("image1d image1d_array image2d image2d_array image3d", "_t"),
    # qualifiers
    *joined(["", "__"], "kernel global local constant read_only write_only read_write restrict"),
    *("__private", "__generic", "_viv_uniform"),
    *("reqd_work_group_size", "work_group_size_hint", "vec_type_hint"),
    # work items, memory, printf
    *joined("get_", "global local", "_", "id size"),
    *("get_group_id", "get_num_groups", "get_global_offset", "get_work_dim"),
    *("barrier", "mem_fence", "read_mem_fence", "write_mem_fence", "prefetch", "printf"),
    *("CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", "wait_group_events"),
    *joined("async_work_group_", ["", "strided_"], "copy"),
    *joined("atomic_ atom_", "add sub xchg min max and or xor inc dec cmpxchg"),
    *joined("vload vstore", _LANES),
    *joined("vload_half", ["", *_LANES]),
    *joined("vloada_half", _LANES),
    *joined("vstore_half", ["", *_LANES], _ROUNDINGS),
    *joined("vstorea_half", _LANES, _ROUNDINGS),
    # images
    *joined("read write", "_image", "f i ui"),
    *joined("get_image_", "width height depth dim array_size"),
    # conversions
    *joined("as_", [*_TYPES]),
    *joined("convert_", [*_TYPES], _ROUNDINGS),
    *joined("convert_", _WHOLE, ["", *_LANES], "_sat", _ROUNDINGS),
    # constants
    *("__OPENCL_VERSION__", "__IMAGE_SUPPORT__"),
    *joined("FLT HALF", "_", "DIG EPSILON MANT_DIG MAX MAX_10_EXP MAX_EXP MIN MIN_10_EXP MIN_EXP"),
    *("FLT_RADIX", "HALF_RADIX", "FP_FAST_FMAF", "FP_ILOGB0", "FP_ILOGBNAN"),
    *("INFINITY", "NAN", "HUGE_VALF", "MAXFLOAT", "CHAR_BIT"),
    *joined("CHAR SCHAR SHRT INT LONG", "_", "MIN MAX"),
    *joined("UCHAR USHRT UINT ULONG", "_MAX"),
    *joined("M_", "E LOG2E LOG10E LN2 LN10 PI PI_2 PI_4 1_PI 2_PI 2_SQRTPI SQRT2 SQRT1_2", "_F _H"),
    # mathematics
    *joined(
        "native_ half_", "exp exp2 exp10 log log2 log10 sqrt rsqrt sin cos tan powr divide recip"
    ),
    *joined(["", "a"], "sin cos tan", ["", "h", "pi"]),
    *"exp exp2 exp10 expm1 log log2 log10 log1p logb ilogb cbrt sqrt rsqrt erf erfc tgamma".split(),
    *"lgamma lgamma_r round rint floor ceil trunc fabs pow powr pown rootn ldexp frexp".split(),
    *"fmod remainder remquo atan2 atan2pi hypot fma mad mix smoothstep step copysign fmin".split(),
    *"fmax fdim maxmag minmag nextafter nan fract modf sincos degrees radians sign min".split(),
    *"max clamp abs abs_diff add_sat sub_sat hadd rhadd clz popcount rotate mul_hi mad_hi".split(),
    *"mad_sat mul24 mad24 upsample dot cross select bitselect shuffle shuffle2 any all".split(),
    *joined(["", "fast_"], "distance length normalize"),
    *joined("is", "nan inf finite normal equal notequal greater greaterequal less lessequal"),
    *("islessgreater", "isordered", "isunordered", "signbit"),
    # instructions
    *("vxc_modifier", "vxc_round_mode", "vxc_filter_mode"),
    *("_viv_asm", "VXC_5BITOFFSET_XY", "VXC_DEFAULT_MODIFIER"),
    *joined("VXC_OP", "1 2 3 4 5", ["", "_NoDest", "_ST"]),
    *joined("VXC_", "Read Write", "Image", ["", "2DArray", "3D"]),
    *joined("VXC_", "Vload Vstore", "2 3 4 8 16"),
    *joined("VXC_RM_", "TowardZero Truncate TowardInf ToNearestEven"),
    *joined("VXC_FM_", "BOX Guassian SobelX SobelY ScharrX ScharrY Max Min Median"),
    *joined("VXC_MODIFIER", ["", "_CLAMP", "_BIN", "_FILTER", "_SIGNEXT"]),
    *joined("VXC_MODIFIER_", "GATHER SCATTER ATOMIC_S MAGPHASE SetDestClamp"),
    *joined("VXC_", "CLAMP PREADJ RANGEPI FILTER OFFSET_TYPE ATOM_OP", "_BITMASK"),
    *joined("VXC_", "START_BIN END_BIN SOURCE_BIN ROUNDING_MODE ENABLEBOOL SIGNEXT", "_BITMASK"),
    *joined("VXC_DP", "16x1 8x2 4x4 2x8 32x1 16x2 8x4 4x8 2x16", ["", "_b"]),
    *joined("VXC_", "Vert Horz", "Max3 Min3 Med3"),
    *joined("VXC_", "Gather Scatter AtomicS", ["", "_b"]),
    *joined("VXC_", "Clamp AbsDiff BitExtract MulShift IAccSq Lerp BiLinear Filter IAdd"),
    *joined("VXC_", "SelectAdd MagPhase BitReplace"),
}


def _output(*arguments: str) -> str:
    command = [clang.zig(), "clang", "-x", "cl", *clang.language(2), *clang.code(True, False)]
    result = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def _macros(*arguments: str) -> set[str]:
    return set(re.findall(r"^#define (\w+)", _output("-E", "-dM", *arguments), re.MULTILINE))


def _declared(*arguments: str) -> list[str]:
    """Return the names of global declarations and of enum constants."""
    names = []
    for line in _output("-fsyntax-only", "-Xclang", "-ast-dump", *arguments).splitlines():
        kind = re.match(r"[|`]-(\w+)Decl |[| ] [|`]-EnumConstantDecl ", line)
        if kind and "implicit" not in line and not line.endswith("struct definition"):
            in_a_tag = kind[1] in ("Record", "Enum")
            pattern = r"\b(\w+)(?: definition| '[\w ]+')?$" if in_a_tag else r" (\w+) '"
            name = re.search(pattern, line)
            assert name is not None, line
            names.append(name[1])
    return names


@pytest.fixture(scope="module")
def prelude(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the arguments of clang for the complete prelude."""
    written = tmp_path_factory.mktemp("names") / "names.h"
    written.write_text(macros())
    return ["-include", str(written), str(clang.PRELUDE / "prelude.h")]


def test_names_are_standard_or_reserved(prelude: list[str]) -> None:
    taken = _macros(*prelude) - _macros("/dev/null")
    taken |= {*_declared(*prelude)}
    others = {name for name in taken if not OWN.match(name)}
    assert others - LANGUAGE == set()
    assert LANGUAGE - others == set()


def test_reader_defines_no_other_names(prelude: list[str]) -> None:
    outline = ["-include", str(clang.PRELUDE / "outline.h")]
    *include, header = prelude
    with_outline = _macros(*include, "-include", header, *outline, "/dev/null")
    assert {name for name in with_outline - _macros(*prelude) if not OWN.match(name)} == set()


def test_runtime_exports_no_other_names() -> None:
    with vx_runtime().open("rb") as file:
        section: Any = ELFFile(file).get_section_by_name(".dynsym")
        given = {each.name for each in section.iter_symbols() if each["st_shndx"] != "SHN_UNDEF"}
    of_the_compiler = re.compile(
        r"__asan_|__ubsan_handle_|__extend|__trunc|__libc|_IO_|_?_?(start|data_start)"
    )
    assert {name for name in given if not OWN.match(name) and not of_the_compiler.match(name)} == {
        "harness_runtime"
    }


KERNEL = """
#define VX_FUNCTION 1
#define VX_READ(x) x
#define unused
struct vx_image { int vx_operand; };
enum vx_type { VX_FLOAT32 = 5 };
typedef int vx_small_half;
_viv_uniform int vx_item;
static int vx_offset(int bits) { return bits + VX_FUNCTION; }
int vx_read(int vx_register) { return vx_register * VX_READ(3); }
float vx_exp(float x) { return x; }
int vx_event(int vx_say) { return vx_say; }

__kernel void vx_entry(image2d_array_t vx_at, image2d_array_t vx_target)
{
    int4 vx_from = (int4)(get_global_id(0) * 4, 0, 0, 0);
    int4 vx_a = read_imagei(vx_at, vx_from), vx_b = (int4)(-1), vx_c = (int4)(0, -1, 0, -1);
    struct vx_image vx_i = {vx_offset(1) + vx_event(VX_FLOAT32)};
    vx_small_half vx_to = vx_read(vx_i.vx_operand) + vx_item;
    int4 vx_lane = bitselect(vx_a, vx_b, vx_c) + vx_to;
    short4 vx_limit;
    vxc_short4 vx_words;
    _viv_asm(CONV_SAT, vx_limit, vx_lane);
    _viv_asm(CLAMP0MAX, vx_limit, vx_limit, vx_read(33));
    _viv_asm(CONV, vx_words, vx_limit);
    int4 vx_value = convert_int4(shuffle2(vx_words, vx_words, (vxc_ushort4)(3, 2, 5, 4)));
    VXC_AbsDiff(vx_a, vx_value, vx_b, VXC_MODIFIER_SIGNEXT(0, 3, 0, 0, 0));
    vx_value.x += convert_int(vx_exp(exp(0.0f)));
    write_imagei(vx_target, vx_from, vx_value + vx_a);
}
"""


def test_kernel_may_use_former_names(vx_folder: Path) -> None:
    source = vx_folder / "vx_names.vx"
    source.write_text(KERNEL)
    program = compile_vx(source, vx_folder / "cache")
    assert program.diagnostics == ""
    assert list(program.kernels["vx_entry"].uniforms) == ["vx_item"]
    x = np.arange(8, dtype=np.int32).reshape(1, 8) * 20
    outcome = run(
        *(program, "vx_entry", launch((2,)), {"x": x}, {"y": (x.shape, x.dtype)}),
        uniforms={"vx_item": np.int32(10).tobytes()},
    )
    lanes = np.clip(np.where(np.arange(8) % 2, -1, x[0]) + 3 * 7 + 10, 0, 99).reshape(2, 4)
    lanes = lanes[:, [3, 2, 1, 0]]
    expected = lanes + np.abs(lanes + 1)
    expected[:, 0] += 1
    np.testing.assert_array_equal(outcome.outputs["y"][0].reshape(2, 4), expected)


NAMED_LIKE_BUILT_INS = """
_viv_uniform int remainder;
_viv_uniform int step;
const float exp10[2] = {2, 3};
float4 max(float4 a, float4 b) { return a - b; }
int popcount(int sign) { return sign + remainder; }
int shuffle(int mix, int clamp) { return mix * clamp; }
float fma(float a, float b, float c);
float fma(float a, float b, float c) { return a; }

__kernel void floor(image2d_t result, int distance, float sqrt)
{
    int length = distance + step, dot = popcount(length);
    float4 cross = max((float4)(exp10[0]), (float4)(exp10[1])) + fma(sqrt, 3.0f, 4.0f);
    write_imagei(result, (int2)(0), (int4)(dot, shuffle(2, 5), convert_int(cross.x), abs(-7)));
}
"""


def test_kernel_may_redefine_built_ins(vx_folder: Path) -> None:
    source = vx_folder / "built_in_names.vx"
    source.write_text(NAMED_LIKE_BUILT_INS)
    program = compile_vx(source, vx_folder / "cache")
    assert program.diagnostics == ""
    assert sorted(program.kernels["floor"].uniforms) == ["remainder", "step"]
    outcome = run(
        *(program, "floor", launch((1,)), {}, {"y": ((1, 4), "int32")}),
        [param(np.int32(5)), param(np.float32(1.5))],
        uniforms={"remainder": np.int32(100).tobytes(), "step": np.int32(20).tobytes()},
    )
    assert outcome.outputs["y"].tolist() == [[125, 10, 0, 7]]


# ---- Functions of the runtime that kernels call --------------------------------------------------


def test_called_functions_are_in_shared_header(prelude: list[str]) -> None:
    text = (clang.PRELUDE / "shared.h").read_text()
    declared = set(re.findall(r"^\w[\w ]*\**\b(__opkit_\w+)\([^;]*\);$", text, re.MULTILINE))
    tree = _output("-fsyntax-only", "-Xclang", "-ast-dump", *prelude)
    called = {
        name
        for name, body in re.findall(
            r"^[|`]-FunctionDecl .*? (\w+) '.*\n((?:[| ] .*\n)*)", tree, re.MULTILINE
        )
        if "CompoundStmt" not in body and not name.startswith("__builtin_")
    }
    # These have no definition: the first one's type is an element's, others refuse to be called.
    undefined = {"__opkit_element", *(name for name in called if "__opkit_refused_" in name)}
    assert called - undefined == declared


@pytest.mark.parametrize(
    ("file", "prototype", "other"),
    [
        ("mathematics", "float __opkit_exp(float a)", "double __opkit_exp(float a)"),
        ("mathematics", "float b, int *quotient", "float b, long *quotient"),
        ("groups", "void __opkit_barrier(unsigned int place)", "void __opkit_barrier(void)"),
        ("accesses", "int x, int y, int z, double *values", "int x, int y, double *values"),
        ("printing", "values, int count", "values, unsigned count"),
        ("copies", "unsigned long size, unsigned long step", "unsigned long size, unsigned step"),
        ("instructions", "dot_form form, int outputs", "dot_form form, unsigned outputs"),
    ],
)
def test_conflicting_prototype_fails_to_compile(
    tmp_path: Path, file: str, prototype: str, other: str
) -> None:
    opencl, vx = Path("opkit/opencl"), Path("opkit/runtimes/rknn/vx")
    for folder in (opencl, vx):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shared = tmp_path / opencl / "prelude/shared.h"
    assert shared.read_text().count(prototype) == 1
    shared.write_text(shared.read_text().replace(prototype, other))
    [source] = tmp_path.glob(f"opkit/**/runtime/{file}.c")
    flags = ("-D_GNU_SOURCE", "-iquote", tmp_path)
    result = compile_c(tmp_path / f"{file}.o", *flags, "-c", source)
    assert "error: conflicting types for '__opkit_" in result.stderr
