"""Is a plugin one that rknn_server can load? Asked before it is delivered."""

from __future__ import annotations

from pathlib import Path

from opkit.toolchains import elf_check
from opkit.toolchains.abi import ABIS

REQUIREMENTS = elf_check.Requirements(
    exports=("get_rknn_custom_op",),
    libraries=(
        elf_check.SystemLibrary("librknnrt.so", symbols="rknn_"),
        elf_check.SystemLibrary("libc.so.6"),
        elf_check.SystemLibrary("libm.so.6"),
    ),
)
"""What a plugin has to be."""


def check_plugin(path: Path, abi: str) -> None:
    """Check a plugin against what the boards of an ABI accept; on this PC, any glibc does.

    Raises:
        OpkitError: it cannot be read, or it would not load, or not as it should; the message lists
            every reason.
    """
    elf_check.check(path, ABIS[abi], REQUIREMENTS, any_glibc=abi not in ("aarch64", "armhf"))
