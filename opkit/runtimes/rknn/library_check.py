"""Is a compiled library one that RKNN's runtime can load? Asked before it is packed.

The runtime writes the library to a file, opens it with dlopen and looks up the kernel list. What
goes wrong there shows as a line on the board's standard error, or as a crash later; here it is a
message at build time.
"""

from __future__ import annotations

from pathlib import Path

from opkit.toolchains import elf_check
from opkit.toolchains.abi import ABIS

BOARD_LIBRARIES = (
    elf_check.SystemLibrary("libOpenVX.so", symbols="vx[A-Z]"),
    elf_check.SystemLibrary("libc.so.6"),
    elf_check.SystemLibrary("libm.so.6"),
)
"""The libraries that every board has."""


def requirements(operator: str) -> elf_check.Requirements:
    """Return what the device library of an operator of this name has to be."""
    return elf_check.Requirements((f"vx_kernel_{operator}_list",), BOARD_LIBRARIES)


def check_library(path: Path, abi: str, operator: str, any_glibc: bool = False) -> None:
    """Check a device library against what the boards of an ABI accept.

    Args:
        path: the library.
        abi: the name of the ABI that it has to be compiled for.
        operator: the operator's name.
        any_glibc: whether it may ask for a glibc that boards do not have, as a library that only
            runs on this PC may.

    Raises:
        OpkitError: it cannot be read, or it would not load, or not as it should; the message lists
            every reason.
    """
    elf_check.check(path, ABIS[abi], requirements(operator), any_glibc)
