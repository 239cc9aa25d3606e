"""Find the system headers of a compiler, for other tools that read C."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from opkit.toolchains.abi import Abi
from opkit.toolchains.compiler import Compiler, ToolchainError, cxx_command

_SEARCHED = re.compile(
    r"^#include <\.\.\.> search starts here:$\n(.*?)^End of search list\.$",
    re.DOTALL | re.MULTILINE,
)

# zig passes macros to libc++ that other builds of it define in a header.
_CXX_CONFIGURATION = re.compile(r"-D (_LIBC(?:PP|XXABI)_\w+(?:=\S+)?)")


def system_folders(compiler: Compiler) -> list[str]:
    """Return the folders of the C library's headers, in the order of the compiler's search.

    Omits the folder of the compiler's own headers, such as stddef.h: it fits no other tool.

    Raises:
        ToolchainError: the compiler cannot be run, or does not print its include folders.
    """
    folders = _searched(compiler.command, "c")
    return [folder for folder in folders if not Path(folder, "stddef.h").exists()]


def cxx_arguments(compiler: Compiler) -> list[str]:
    """Return the arguments for the C++ library's headers: folders and configuration macros.

    Raises:
        ToolchainError: as system_folders; or there is no C++ compiler.
    """
    of_c = _searched(compiler.command, "c")
    command = cxx_command(compiler)
    folders = [folder for folder in _searched(command, "c++") if folder not in of_c]
    return [
        "-nostdinc++",
        *(f"-D{name}" for name in _CXX_CONFIGURATION.findall(_verbose(command, "c++"))),
        *(part for folder in folders for part in ("-isystem", folder)),
    ]


def _searched(compiler: Sequence[str], language: str) -> list[str]:
    text = _verbose(compiler, language)
    found = _SEARCHED.search(text)
    if found is None:
        raise ToolchainError(
            f"{shlex.join(compiler)} does not list its include folders, but prints\n{text.strip()}"
        )
    return [line.strip() for line in found[1].splitlines()]


def _verbose(compiler: Sequence[str], language: str) -> str:
    """Return a compiler's verbose output on an empty file."""
    try:
        run = subprocess.run(
            [*compiler, "-E", "-v", "-x", language, os.devnull],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except OSError as error:
        raise ToolchainError(f"{compiler[0]} cannot be run: {error.strerror}") from None
    return run.stderr


def glibc_version(compiler: Compiler, abi: Abi) -> tuple[str, ...]:
    """Return the flags that limit the declarations of the headers to the ABI's glibc.

    zig's headers serve every glibc version, so zig itself passes these flags; other headers are
    for a single version.
    """
    minor = abi.glibc_ceiling.rpartition(".")[2]
    return (f"-D__GLIBC_MINOR__={minor}",) if compiler.toolchain == "zig" else ()
