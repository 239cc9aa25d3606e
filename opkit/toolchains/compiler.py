"""A C compiler for one ABI, its C++ compiler, and the search for programs."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from opkit.common.errors import OpkitError


class ToolchainError(OpkitError):
    """A compiler that was not found or cannot be used."""


class Compiler(NamedTuple):
    """A C compiler for one ABI.

    Attributes:
        toolchain: its kind: `zig`, `linaro`, `gnu`, `prefix` or `ndk`.
        abi: the name of its ABI.
        command: the program and the arguments that select the ABI; for compiling and linking.
        flags: of the processor and of code generation for it; for compiling and linking.
    """

    toolchain: str
    abi: str
    command: tuple[str, ...]
    flags: tuple[str, ...]


class Missing(NamedTuple):
    """A compiler that was not found.

    Attributes:
        what: its name in messages.
        places: the searched paths, for messages.
        remedy: the command for its installation.
    """

    what: str
    places: tuple[str, ...]
    remedy: str


class Options(NamedTuple):
    """The user's options for finding compilers.

    Attributes:
        prefix: all of GCC's path or name that stands before `gcc`; empty: not given.
        sysroot: the folder with the target system's headers and libraries; empty: not given.
        home: the user's home.
        ndk: the folder of Android's NDK; empty: not given.
    """

    prefix: str
    sysroot: str
    home: Path
    ndk: str = ""


def first_program(places: Sequence[str]) -> str | None:
    """Return the absolute path of the first existing program; bare names are searched on PATH."""
    for place in places:
        program = shutil.which(place)
        if program is not None:
            return str(Path(program).absolute())
    return None


def described(place: str) -> str:
    """Return a place for messages: a bare name with the value of PATH."""
    if os.path.dirname(place):  # noqa: PTH120 - the text decides, as in shutil.which
        return place
    return f"{place} on PATH ({os.environ.get('PATH', '')})"


def cxx_command(compiler: Compiler) -> tuple[str, ...]:
    """Return the command of the C++ compiler that belongs to a C compiler.

    Raises:
        ToolchainError: it was not found.
    """
    program, *rest = compiler.command
    if compiler.toolchain == "zig":
        return (program, "c++", *rest[1:])
    cxx = beside(program)
    if shutil.which(cxx) is None:
        raise ToolchainError(
            f"op.yml lists C++ sources, and there is no C++ compiler for {compiler.abi}: no {cxx} "
            f"beside {program}. Install it (for Debian's gcc: sudo apt install "
            f"{Path(cxx).name.replace('_', '-')}), or build with toolchain=zig"
        )
    return (cxx, *rest)


def archiver(command: Sequence[str]) -> list[str]:
    """Return the command of the archiver that belongs to a C compiler.

    Args:
        command: of the compiler, as in Compiler.command.
    """
    program, *rest = command
    if rest[:1] == ["cc"]:
        return [program, "ar"]
    return [re.sub("clang$", "llvm-ar", re.sub("gcc$", "ar", program))]


def beside(program: str) -> str:
    """Return the path of the C++ compiler that comes with gcc or clang."""
    return re.sub(
        r"(gcc|clang)$", lambda found: {"gcc": "g++", "clang": "clang++"}[found[1]], program
    )
