"""The headers of the C library that a compiler compiles with, for other tools that read C."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

from opkit.toolchains import Compiler, ToolchainError
from opkit.toolchains.abi import Abi

_SEARCHED = re.compile(
    r"^#include <\.\.\.> search starts here:$\n(.*?)^End of search list\.$",
    re.DOTALL | re.MULTILINE,
)


def system_folders(compiler: Compiler) -> list[str]:
    """Return the folders of the C library's headers, in the order of the compiler's search.

    The folder of what the compiler itself defines, such as stddef.h, is not among them: it fits no
    other tool.

    Raises:
        ToolchainError: the compiler cannot be run, or does not say where it looks.
    """
    command = [*compiler.command, "-E", "-v", "-x", "c", os.devnull]
    try:
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except OSError as error:
        raise ToolchainError(f"{command[0]} cannot be run: {error.strerror}") from None
    found = _SEARCHED.search(run.stderr)
    if run.returncode != 0 or found is None:
        raise ToolchainError(
            f"{shlex.join(command)} does not list its include folders, but says\n"
            f"{run.stderr.strip()}"
        )
    folders = [line.strip() for line in found[1].splitlines()]
    return [folder for folder in folders if not Path(folder, "stddef.h").exists()]


def glibc_version(compiler: Compiler, abi: Abi) -> tuple[str, ...]:
    """Return the flags that have the headers declare what the ABI's glibc has, and no more.

    zig's headers serve every glibc, so that zig itself passes them; others are of one.
    """
    minor = abi.glibc_ceiling.rpartition(".")[2]
    return (f"-D__GLIBC_MINOR__={minor}",) if compiler.toolchain == "zig" else ()
