"""A GCC at a path given by the user, such as that of a Buildroot or Yocto SDK."""

from __future__ import annotations

import os
import re
from pathlib import Path

from opkit.toolchains.abi import ABIS, Abi
from opkit.toolchains.compiler import (
    Compiler,
    Options,
    ToolchainError,
    described,
    first_program,
)


def find(abi: Abi, options: Options) -> Compiler | None:
    """Return `<prefix>gcc`, or None if the prefix is for another ABI.

    Raises:
        ToolchainError: there is no compiler or no sysroot at the given path; or the prefix does
            not identify an ABI.
    """
    prefix, sysroot = options.prefix, options.sysroot
    if _abi_of(prefix) is not abi:
        return None
    place = os.path.expanduser(f"{prefix}gcc")  # noqa: PTH111 - a name without a folder stays one
    program = first_program([place])
    if program is None:
        raise ToolchainError(
            f"prefix={prefix}: no compiler there. Looked for:\n  {described(place)}\n"
            "The prefix is all that stands before 'gcc', with the dash at its end. A Buildroot SDK "
            "is unpacked with 'tar -xf', a Yocto SDK by running its .sh file"
        )
    command: tuple[str, ...] = (program,)
    if sysroot:
        root = Path(os.path.expanduser(sysroot)).absolute()  # noqa: PTH111 - without a home: as it is
        if not root.is_dir():
            raise ToolchainError(
                f"sysroot={sysroot}: there is no folder {root}; it is the one in the SDK that "
                "holds the board's usr/include and usr/lib"
            )
        command += (f"--sysroot={root}",)
    return Compiler("prefix", abi.name, command, abi.gnu_flags)


def _abi_of(prefix: str) -> Abi:
    """Return the ABI of a prefix's first word."""
    if not prefix:
        raise ToolchainError(
            "toolchain=prefix needs prefix=, all of the compiler's path or name that stands "
            "before 'gcc': prefix=/opt/sdk/bin/aarch64-buildroot-linux-gnu-"
        )
    first_word, dash, _ = Path(prefix).name.partition("-")
    for abi in ABIS.values():
        if dash and re.fullmatch(abi.gnu_processors, first_word):
            return abi
    *others, last = (f"'{abi.processor}-'" for abi in ABIS.values())
    raise ToolchainError(
        f"prefix={prefix}: cannot tell which processor it is for; its last part has to begin with "
        f"{', '.join(others)} or {last}, as in prefix=/opt/sdk/bin/aarch64-buildroot-linux-gnu-"
    )
