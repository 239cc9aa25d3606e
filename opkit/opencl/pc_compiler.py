"""Compiles sources of kernels, unchanged, for this PC: with clang as an OpenCL C compiler.

The clang is the one inside of zig. prelude/ declares the built-ins of OpenCL C 1.2 and of the
compiler for `.vx` files.
Results are cached in a folder, under keys of their sources and flags.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.common.scratch import scratch_folder, whole_folder
from opkit.opencl import clang
from opkit.opencl.signatures import USER, KernelParameter, VxKernel
from opkit.opencl.source_reader import UNSET, Broken, Reading, encoded, read

_SECTIONS = Path(__file__).parent / "sections.ld"


@dataclass(frozen=True)
class Program:
    """A compiled source.

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


def compile_source(
    source: Path,
    folder: Path,
    language: tuple[str, ...],
    code: tuple[str, ...],
    prepared: Callable[[Reading], Reading],
    *,
    kernels: Collection[str] | None = None,
    appended: Callable[[Reading], Sequence[str]] = lambda _: (),
) -> Program:
    """Compile a source, or take it from the cache.

    Args:
        source: the file.
        folder: the cache.
        language: the flags that select the language, such as clang.language().
        code: the flags for code generation, such as clang.code().
        prepared: returns the declarations of the source, or refuses them by an OpkitError.
        kernels: the names of the kernels to generate code for; None: all.
        appended: returns lines of code to compile behind the source.

    Raises:
        OpkitError: the source does not compile (the message has the compiler's errors, with lines
            of the source), or this PC cannot run kernels.
    """
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise OpkitError(
            f"{source.suffix.removeprefix('.').upper()} kernels run on Linux on x86_64, and this "
            f"is {platform.system()} on {platform.machine()}"
        )
    folder = folder.resolve()
    flags = (*language, *code)
    reading = read(source, folder, language, code)
    if isinstance(reading, Broken):
        text = f"{reading.names}{_with_line_marker(source, reading.text)}"
        with scratch_folder(folder) as target:
            _compile(text, reading, source, target, folder, flags)  # raises, with the errors
        raise OpkitError(f"{source}: its declarations cannot be read")
    if reading.problems:
        raise OpkitError("\n".join(reading.problems))
    reading = prepared(reading)
    last = appended(reading)

    def build(target: Path) -> None:
        text = _translation_unit(source, reading, kernels, last)
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
    inputs = (str(source), str(Path.cwd()), reading.key(), header, names, *last, *code)
    key = clang.key(*inputs)
    result = whole_folder(folder / f"{source.stem}-{key}", build)
    diagnostics = (result / "diagnostics").read_text(encoding="utf-8")
    unset = tuple(each for each in reading.warnings if each.endswith(UNSET))
    return Program(source, result / "kernel.so", reading.kernels, diagnostics, unset)


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


def _translation_unit(
    source: Path, reading: Reading, names: Collection[str] | None, last: Sequence[str]
) -> str:
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
    return "\n".join((*lines, *text, *entry_points, *last, ""))


def _with_line_marker(source: Path, text: str) -> str:
    return f"#line 1 {json.dumps(str(source))}\n{text}"


def _load(index: int, parameter: KernelParameter) -> str:
    if parameter.type == "bool":
        return f"*(int *)__opkit_arguments[{index}] != 0"
    return _LOADS[parameter.kind].format(type=parameter.type, index=index)
