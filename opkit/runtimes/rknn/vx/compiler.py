"""Compiles `.vx` sources, unchanged, for this PC."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.opencl import clang
from opkit.opencl.pc_compiler import Program, compile_source
from opkit.opencl.source_reader import Reading


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
    return compile_source(
        source,
        folder,
        clang.language(vx_version),
        clang.code(sanitize, debug),
        lambda reading: _checked(source, reading),
        kernels=kernels,
    )


def _checked(source: Path, reading: Reading) -> Reading:
    """Refuse a source without kernels, and kernels that the board cannot call."""
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
    return reading
