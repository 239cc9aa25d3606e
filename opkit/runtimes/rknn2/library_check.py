"""Checks that rknn_server can load a plugin, before the plugin is delivered."""

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
"""The required exports and libraries of a plugin."""


def check_plugin(path: Path, abi: str) -> None:
    """Check that the boards of an ABI can load a plugin; on this PC, any glibc is accepted.

    Raises:
        OpkitError: the plugin cannot be read, or violates a requirement; the message lists every
            reason.
    """
    elf_check.check(path, ABIS[abi], REQUIREMENTS, any_glibc=abi not in ("aarch64", "armhf"))
