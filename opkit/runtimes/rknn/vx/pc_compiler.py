"""Compiles `.vx` sources, unchanged, for this PC: with clang as an OpenCL C compiler.

The clang is the one inside of zig. prelude/ declares the built-ins of the vendor's compiler.
Results are cached in a folder, under keys of their sources and flags.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.common.scratch import scratch_folder, whole_folder
from opkit.runtimes.rknn.vx import clang
from opkit.runtimes.rknn.vx.signatures import USER, KernelParameter, VxKernel
from opkit.runtimes.rknn.vx.source_reader import UNSET, Broken, Reading, encoded, read

_SECTIONS = Path(__file__).parent / "sections.ld"


@dataclass(frozen=True)
class Program:
    """A compiled `.vx` source.

    Attributes:
        source: the source.
        library: the shared library.
        kernels: by name, in the order of the source.
        diagnostics: the compiler's warnings.
        unset: those about variables that are read before anything sets them.
    """

    source: Path
    library: Path
    kernels: dict[str, VxKernel]
    diagnostics: str
    unset: tuple[str, ...] = ()


def compile_vx(
    source: Path,
    folder: Path,
    *,
    sanitize: bool = True,
    debug: bool = False,
    vx_version: int = 1,
    kernels: Collection[str] | None = None,
) -> Program:
    """Compile a `.vx` source, or take it from the cache.

    Args:
        source: the `.vx` file.
        folder: the cache.
        sanitize: check for undefined behavior while the kernel runs.
        debug: compile without optimization, for a debugger.
        vx_version: the generation of the hardware, VX_VERSION in the source.
        kernels: the names of the kernels to generate code for; None: all.

    Raises:
        OpkitError: the source does not compile (the message has the compiler's errors, with lines
            of the source), or this PC cannot run VX kernels.
    """
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise OpkitError(
            f"VX kernels run on Linux on x86_64, and this is {platform.system()} on "
            f"{platform.machine()}"
        )
    folder = folder.resolve()
    code = clang.code(sanitize, debug)
    flags = (*clang.language(vx_version), *code)
    reading = read(source, folder, vx_version, code)
    if isinstance(reading, Broken):
        text = f"{reading.names}{_with_line_marker(source, reading.text)}"
        with scratch_folder(folder) as target:
            _compile(text, reading, source, target, folder, flags)  # raises, with the errors
        raise OpkitError(f"{source}: its declarations cannot be read")
    _check_kernels(source, reading)

    def build(target: Path) -> None:
        text = _translation_unit(source, reading, kernels)
        warnings = _compile(text, reading, source, target, folder, flags)
        clang.run(
            *(clang.zig(), "ld.lld", "-shared", "-Bsymbolic", "-z", "now", "-T", str(_SECTIONS)),
            *("kernel.o", "-o", "kernel.so"),
            folder=target,  # in a path it takes % for a placeholder
        )
        diagnostics = "\n".join((*reading.warnings, warnings)).strip("\n")
        (target / "diagnostics").write_text(diagnostics, encoding="utf-8")

    header = clang.precompiled_name(flags)
    names = "all" if kernels is None else ",".join(sorted(kernels))
    key = clang.key(str(source), str(Path.cwd()), reading.key(), header, names, *code)
    result = whole_folder(folder / f"{source.stem}-{key}", build)
    diagnostics = (result / "diagnostics").read_text(encoding="utf-8")
    unset = tuple(each for each in reading.warnings if each.endswith(UNSET))
    return Program(source, result / "kernel.so", reading.kernels, diagnostics, unset)


def _check_kernels(source: Path, reading: Reading) -> None:
    """Refuse a source without kernels, and kernels that the board cannot call."""
    if reading.problems:
        raise OpkitError("\n".join(reading.problems))
    if not reading.kernels:
        raise OpkitError(f"{source}: no kernel (expected `__kernel void name(`)")
    for kernel in reading.kernels.values():
        where = f"{source}: kernel '{kernel.name}'"
        if kernel.returns != "void":
            raise OpkitError(f"{where} returns {kernel.returns} (expected void)")
        for parameter in kernel.parameters:
            if parameter.kind == "other":
                raise OpkitError(
                    f"{where}: parameter '{parameter.name}' is of type {parameter.type}; the board "
                    "passes a tensor (image2d_array_t), an array (vx_array_int) or a scalar of 32 "
                    "bits (int, uint, float, bool)"
                )


def _compile(
    text: str,
    read_as: Reading | Broken,
    source: Path,
    target: Path,
    folder: Path,
    flags: tuple[str, ...],
) -> str:
    """Compile a text to kernel.o in a folder; return the warnings.

    Raises:
        OpkitError: the text does not compile; the message has the compiler's errors.
    """
    # The columns of expanded macros are not those of the source.
    columns = ("-fno-show-column", "-fno-caret-diagnostics") if read_as.expanded else ()
    copy = target / "kernel.cl"
    copy.write_bytes(encoded(text))
    return clang.clang(
        *("-x", "cl", *flags, *clang.prelude(folder, flags)),
        *("-iquote", str(source.parent.resolve())),
        *(*columns, "-c", str(copy), "-o", str(target / "kernel.o")),
        folder=folder,
    ).stderr


# ---- The translation unit ------------------------------------------------------------------------

_ENTRY = '__attribute__((no_sanitize("undefined", "address")))'
_BEGIN_STATIC = (
    "#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)"
)
_LOADS = {
    "tensor": "*(struct __opkit_image *)__opkit_arguments[{index}]",
    "array": "*({type} *)__opkit_arguments[{index}]",
    "scalar": "*({type} *)__opkit_arguments[{index}]",
    "pointer": "__opkit_arguments[{index}]",
}


def _translation_unit(source: Path, reading: Reading, names: Collection[str] | None) -> str:
    """Return the source with the reader's macros and the runtime's entry points.

    These are the entry point of each kernel, the bounds of local memory, and uniforms' names.
    """
    lines = [reading.names]
    lines += [f"#define __OPKIT_VARIABLE_{n} , __OPKIT_STATIC" for n in reading.local_variables]
    text = [_with_line_marker(source, reading.text), '#line 1 "entry points"']
    if names is not None:  # clang makes no code of static functions that nothing calls
        text = [_BEGIN_STATIC, *text, "#pragma clang attribute pop"]
    bounds = "__start___opkit_local", "__stop___opkit_local"
    entry_points = [
        *(
            f'extern uchar {bound}[] __attribute__((weak, visibility("hidden")));'
            for bound in bounds
        ),
        f"uchar *__opkit_local_memory[2] = {{{', '.join(bounds)}}};",
    ]
    for kernel in reading.kernels.values():
        if names is None or kernel.name in names:
            arguments = ", ".join(_load(*each) for each in enumerate(kernel.parameters))
            entry_points.append(
                f"{_ENTRY} void __opkit_entry_{kernel.name}(void **__opkit_arguments) "
                f"{{ {kernel.name}({arguments}); }}"
            )
    uniforms = {name for kernel in reading.kernels.values() for name in kernel.uniforms}
    entry_points += [
        f"extern __typeof__({name}) __opkit_named_{name} "
        f'__asm__("{name}") __attribute__((alias("{USER}{name}")));'
        for name in sorted(uniforms)
        if f"#define {name} " in reading.names
    ]
    return "\n".join((*lines, *text, *entry_points, ""))


def _with_line_marker(source: Path, text: str) -> str:
    return f"#line 1 {json.dumps(str(source))}\n{text}"


def _load(index: int, parameter: KernelParameter) -> str:
    if parameter.type == "bool":
        return f"*(int *)__opkit_arguments[{index}] != 0"
    return _LOADS[parameter.kind].format(type=parameter.type, index=index)
