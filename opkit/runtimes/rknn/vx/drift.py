"""A `.vx` source against op.yml and against the published kernels.

The published kernels are the 312 files of a public kernel library and those of the SDK's examples.
"""

from __future__ import annotations

import re
from pathlib import Path

from opkit.common.complaint import Complaint
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.opencl.clang import FOLDER, language
from opkit.opencl.signatures import VxKernel
from opkit.opencl.source_reader import read_kernels
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.kernel_skeletons import vx_arguments
from opkit.runtimes.rknn.settings import settings

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_WORD = re.compile(r"\b(?P<word>[a-zA-Z]\w*)\b(?P<is_called>\s*\()?")
_VECTOR = re.compile(r"(?:vxc_)?(?:u?(?:char|short|int|long)|half|float|double)(?:2|3|4|8|16)")
_CONVERSION = re.compile(r"(?:convert|as)_\w+")
_HALVES_IN_MEMORY = re.compile(r"v(?:load|store)a?_half\w*")

_PUBLISHED_VECTORS = frozenset(
    """
    char4 uchar4 short4 half4 half8 int2 int4 int8 uint2 uint4 uint8 float2 float4 float16
    vxc_char4 vxc_char8 vxc_char16 vxc_uchar4 vxc_uchar8 vxc_uchar16 vxc_short2 vxc_short4
    vxc_short8 vxc_short16 vxc_ushort8 vxc_ushort16 vxc_half4 vxc_half8
    vxc_half16 vxc_int4 vxc_uint4 vxc_float4
    """.split()
)
_PUBLISHED_CONVERSIONS = frozenset(
    """
    as_uint convert_char convert_float convert_float2 convert_float4 convert_float4_rtp convert_int
    convert_int4 convert_int4_rte convert_int_rte convert_int_rtz convert_short convert_short4
    convert_uchar convert_uchar4_sat convert_uint convert_uint4
    """.split()
)
_UNPUBLISHED_FUNCTIONS = frozenset(
    """
    acos acospi asin asinh asinpi atan2 atan2pi atanpi cbrt copysign cosh cospi cross degrees
    distance erfc exp10 expm1 fast_distance fast_length fast_normalize fdim fma fract frexp half_cos
    half_divide half_exp half_exp10 half_exp2 half_log half_log10 half_log2 half_powr half_recip
    half_rsqrt half_sin half_sqrt half_tan hypot ilogb ldexp lgamma lgamma_r log10 log1p logb mad
    maxmag minmag mix modf nan native_divide native_exp native_exp10 native_exp2 native_log
    native_log10 native_log2 native_powr native_recip native_rsqrt native_sqrt nextafter normalize
    pow pown powr radians remquo rint rootn signbit sincos sinh sinpi smoothstep sqrt step tanh
    tanpi tgamma trunc
    abs abs_diff add_sat hadd mad24 mad_hi mul24 popcount rhadd rotate upsample
    all any bitselect isequal isfinite isgreater isgreaterequal isinf isless islessequal
    islessgreater isnan isnormal isordered isunordered select
    async_work_group_copy async_work_group_strided_copy prefetch shuffle shuffle2 vload3 vload8
    vload16 vstore2 vstore8 vstore16 wait_group_events
    atom_add atom_and atom_cmpxchg atom_dec atom_inc atom_max atom_min atom_or atom_sub atom_xchg
    atom_xor atomic_and atomic_dec atomic_max atomic_min atomic_or atomic_sub atomic_xchg atomic_xor
    get_global_offset get_image_depth get_image_dim get_local_size get_num_groups get_work_dim
    mem_fence printf read_mem_fence write_imageui write_mem_fence
    VXC_AbsDiff VXC_DP16x2 VXC_DP2x16 VXC_DP32x1 VXC_Filter VXC_HorzMed3 VXC_IAccSq VXC_IAdd
    VXC_MagPhase VXC_MulShift VXC_SelectAdd VXC_VertMed3 VXC_Vload2 VXC_Vload3 VXC_Vload4
    VXC_Vstore16
    """.split()
)


def without_comments(text: str) -> str:
    """Return a source without its comments; the lines stay."""
    return _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n") or " ", text)


def unpublished(text: str, source: str) -> list[str]:
    """Return a note about each word of the language that no published kernel uses.

    Args:
        text: the source; its own functions and macros may have such names.
        source: its path, for the notes.
    """
    code = without_comments(text)
    lines: dict[str, int] = {}  # word -> the line of its first use
    for found in _WORD.finditer(code):
        word = found["word"]
        if word not in lines and _is_unpublished(word, found["is_called"] is not None):
            lines[word] = code.count("\n", 0, found.start()) + 1
    # A macro of the source, or a declaration of a function
    before = r"(?:(?!return\b|else\b)[\w()]+[\s*]+)+"
    defined = rf"^[ \t]*(?:#[ \t]*define[ \t]+{{0}}\b|{before}{{0}}\s*\()"
    return [
        f"{source}:{line}: note: no published kernel uses '{word}'"
        for word, line in lines.items()
        if not re.search(defined.format(word), code, re.MULTILINE)
    ]


def _is_unpublished(word: str, is_called: bool) -> bool:
    if _VECTOR.fullmatch(word):
        return word not in _PUBLISHED_VECTORS
    if not is_called:
        return False
    if _CONVERSION.fullmatch(word):
        return word not in _PUBLISHED_CONVERSIONS
    if _HALVES_IN_MEMORY.fullmatch(word):
        return word != "vload_half4"
    return word in _UNPUBLISHED_FUNCTIONS


_ANY_INTEGER = ("int", "uint", "bool")


def drift(root: Path, spec: OpSpec, cache: Path) -> list[Complaint]:
    """Return each mismatch between the .vx file and op.yml, with the text that op.yml requires.

    Empty if the file does not compile or there is no compiler: the build reports both.

    Args:
        root: the repository.
        spec: its operator.
        cache: the parent of the folder for the compiler's files.
    """
    path = root / f"rknn_kernel_{spec.lower}.vx"
    if not path.is_file():
        return []
    try:
        kernels = read_kernels(path, cache / FOLDER.name, language(settings(spec).vx_version))
    except OpkitError:
        return []
    if kernels is None:
        return []
    kernel = kernels.get(spec.lower)
    expected = [
        *(("tensor", tensor.name) for tensor in (*spec.inputs, *spec.outputs)),
        *(("array" if param.type.is_list else "scalar", param.name) for param in spec.params),
    ]
    if kernel is None:
        problem = f"there is no `__kernel void {spec.lower}(...)`"
    elif [(each.passed_as, each.name) for each in kernel.parameters] != expected:
        problem = f"the arguments of {spec.lower} are not those of op.yml"
    elif others := _other_types(kernel, spec):
        problem = "; ".join(others)
    else:
        return []
    # The line of the kernel's declaration, by its name before a parenthesis
    code = without_comments(path.read_text(encoding="utf-8", errors="replace"))
    found = re.search(rf"\b{spec.lower}\s*\(", code) if kernel else None
    line = code.count("\n", 0, found.start()) + 1 if found else None
    right = ",\n".join(f"    {argument}" for argument in vx_arguments(spec))
    hint = f"write\n\n__kernel void {spec.lower}(\n{right}\n)\n"
    return [Complaint(path.name, problem, line, hint=hint, severity="warning")]


def _other_types(kernel: VxKernel, spec: OpSpec) -> list[str]:
    """Return the scalars of another type than in op.yml.

    An integer of fewer than 32 bits has the same value in every integer type, and so has a bool.
    The type behind a pointer is not checked.
    """
    found = {parameter.name: parameter for parameter in kernel.parameters}
    others = []
    for param in spec.params:
        right = DELIVERIES[param.type.name].vx_type
        element = param.type.element
        is_small = element.kind != "float" and element.size < 4
        parameter = found[param.name]
        if parameter.kind == "scalar" and parameter.type not in (
            _ANY_INTEGER if is_small else (right,)
        ):
            others.append(
                f"{param.name} is {parameter.type}, but {param.type.name} in op.yml, which a VX "
                f"kernel gets as {right}"
            )
    return others
