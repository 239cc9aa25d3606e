"""Compiles `.cl` sources, unchanged, for the emulator of OpenCL on this PC."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.opencl import clang
from opkit.opencl.opencl_c import ClParameter, check_opencl_c
from opkit.opencl.pc_compiler import Program, compile_source
from opkit.opencl.signatures import KernelParameter, VxKernel
from opkit.opencl.source_reader import Reading

FOLDER = Path("build/cl")
"""The folder of a repository in which `.cl` kernels are compiled for this PC."""

_CODE = clang.code(sanitize=True, debug=False, calls=True)
FLAGS = (*clang.OPENCL, *_CODE)
"""The flags of kernels without build options; see share_precompiled."""

MAX_PARAMETERS = 64
"""As in host_opencl/emulator/emulator.h."""

_KINDS = {
    "": "__OPKIT_VALUE_PARAMETER",
    "global": "__OPKIT_GLOBAL_PARAMETER",
    "constant": "__OPKIT_CONSTANT_PARAMETER",
    "local": "__OPKIT_LOCAL_PARAMETER",
}
# The elements of a pointer -> how prelude/shared.h names their type
_TYPES = {
    "float": "__OPKIT_FLOAT32",
    "half": "__OPKIT_FLOAT16",
    **{
        f"{sign}{name}": f"__OPKIT_{'UINT' if sign else 'INT'}{bits}"
        for name, bits in {"char": 8, "short": 16, "int": 32, "long": 64}.items()
        for sign in ("", "u", "unsigned ")
    },
}
# Options of clBuildProgram without an effect on a result here: products and sums are not fused.
_IGNORED = frozenset(
    (
        *("-cl-std=CL1.1", "-cl-std=CL1.2", "-cl-mad-enable", "-cl-fast-relaxed-math", "-w"),
        *("-cl-no-signed-zeros", "-cl-unsafe-math-optimizations", "-cl-finite-math-only"),
        *("-cl-denorms-are-zero", "-cl-opt-disable", "-cl-strict-aliasing"),
        *("-cl-single-precision-constant", "-cl-fp32-correctly-rounded-divide-sqrt"),
    )
)

Signatures = dict[str, tuple[ClParameter, ...]]


def compile_cl(source: Path, folder: Path, options: str = "", *, debug: bool = False) -> Program:
    """Compile a `.cl` source, or take it from the cache.

    The library has the source's text and the options: clBuildProgram of the emulator refuses a
    program that has others.

    Args:
        source: the `.cl` file.
        folder: the cache.
        options: the build options, as clBuildProgram gets them.
        debug: compile without optimization, for a debugger.

    Raises:
        OpkitError: the source is not OpenCL C 1.2 (the message has the compiler's errors, with
            lines of the source), or this PC cannot run it.
    """
    macros = _macros(source, options)
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    signatures, warnings = check_opencl_c(source, folder, macros)
    program = compile_source(
        source,
        folder,
        (*clang.OPENCL, *macros),
        clang.code(sanitize=True, debug=debug, calls=True),
        lambda reading: _with_signatures(source, reading, signatures),
        appended=lambda reading: _tables(source, reading, signatures, options),
    )
    diagnostics = "\n".join(each for each in (warnings, program.diagnostics) if each)
    return replace(program, diagnostics=diagnostics)


def _macros(source: Path, options: str) -> tuple[str, ...]:
    """Return the definitions among build options."""
    words = shlex.split(options)
    macros = []
    while words:
        word = words.pop(0)
        if word == "-D" and words:
            macros.append(f"-D{words.pop(0)}")
        elif word.startswith("-D") and word != "-D":
            macros.append(word)
        elif word not in _IGNORED:
            raise OpkitError(
                f"{source}: build option '{word}' is not one of OpenCL 1.2's that the emulator has "
                f"(expected -D NAME=VALUE, {', '.join(sorted(_IGNORED))})"
            )
    return tuple(macros)


def _with_signatures(source: Path, reading: Reading, signatures: Signatures) -> Reading:
    """Return the declarations with the parameters as OpenCL C has them."""
    if not signatures:
        raise OpkitError(f"{source}: no kernel (expected `__kernel void name(`)")
    for name, parameters in signatures.items():
        if len(parameters) > MAX_PARAMETERS:
            raise OpkitError(
                f"{source}: kernel '{name}' has {len(parameters)} parameters (expected at most "
                f"{MAX_PARAMETERS})"
            )
    kernels = {
        name: replace(reading.kernels[name], parameters=tuple(map(_parameter, parameters)))
        for name, parameters in signatures.items()
    }
    return replace(reading, kernels=kernels)


def _parameter(parameter: ClParameter) -> KernelParameter:
    kind = "pointer" if parameter.space else "scalar"
    return KernelParameter(kind, parameter.type, parameter.name)


def _tables(source: Path, reading: Reading, signatures: Signatures, options: str) -> Sequence[str]:
    """Return the definitions that the library reads: of the program, and of each kernel."""
    lines = [
        f"const char __opkit_source[] = {_literal(source.read_bytes())};",
        f"const char __opkit_options[] = {_literal(options.encode())};",
    ]
    for name, parameters in signatures.items():
        rows = "".join(_row(each) for each in parameters)
        lines.append(
            f'const struct __opkit_parameter __opkit_parameters_{name}[] = {{{rows}{{""}}}};'
        )
        lines.append(
            f"const unsigned long __opkit_needs_{name}[] = {_needs(reading.kernels[name])};"
        )
    return lines


def _row(parameter: ClParameter) -> str:
    size = f"sizeof({parameter.type})" if parameter.type != "void" else "1"
    type_ = _TYPES.get(parameter.type.rstrip("0123456789"), "-1") if parameter.space else "-1"
    return f'{{"{parameter.name[:63]}", {_KINDS[parameter.space]}, {type_}, {size}}}, '


def _needs(kernel: VxKernel) -> str:
    """Return whether a kernel waits at a barrier, and its required local size or zeros."""
    return "{" + ", ".join(map(str, (int(kernel.barrier), *(kernel.group or (0, 0, 0))))) + "}"


def _literal(data: bytes) -> str:
    """Return a literal of C, in which every byte is a number."""
    return '"' + "".join(f"\\{byte:03o}" for byte in data) + '"'
