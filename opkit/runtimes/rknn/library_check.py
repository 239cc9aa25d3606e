"""The check of a device library before it is packed: RKNN's runtime must be able to load it.

The runtime writes the library to a file, opens it with dlopen and looks up the kernel list. An
error there is a line on the board's standard error, or a crash later; here it is a message at build
time.
"""

from __future__ import annotations

from pathlib import Path

from opkit.toolchains import elf
from opkit.toolchains.abi import ABIS

BOARD_LIBRARIES = (
    elf.SystemLibrary("libOpenVX.so", symbols="vx[A-Z]"),
    elf.SystemLibrary("libc.so.6"),
    elf.SystemLibrary("libm.so.6"),
)
"""The libraries that every board has."""


def requirements(operator: str) -> elf.Requirements:
    """Return the requirements on the device library of an operator."""
    return elf.Requirements((f"vx_kernel_{operator}_list",), BOARD_LIBRARIES)


def check_library(path: Path, abi: str, operator: str, any_glibc: bool = False) -> None:
    """Check that the boards of an ABI can load a device library.

    Args:
        path: the library.
        abi: the name of the required ABI.
        operator: the operator's name.
        any_glibc: accept a glibc newer than the boards', for a library that runs on this PC only.

    Raises:
        OpkitError: the library cannot be read, or violates requirements; the message lists all.
    """
    elf.check(path, ABIS[abi], requirements(operator), any_glibc)
