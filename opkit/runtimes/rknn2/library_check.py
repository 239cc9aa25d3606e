"""Checks that rknn_server can load a plugin, before the plugin is delivered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from opkit.toolchains import elf
from opkit.toolchains.abi import ABIS

_REQUIREMENTS = elf.Requirements(
    exports=("get_rknn_custom_op",),
    libraries=(
        elf.SystemLibrary("librknnrt.so", symbols="rknn_"),
        elf.SystemLibrary("libc.so.6"),
        elf.SystemLibrary("libm.so.6"),
    ),
)
"""The required exports and libraries of a plugin."""


_WITH_THREADS = replace(
    _REQUIREMENTS,
    libraries=(*_REQUIREMENTS.libraries, elf.SystemLibrary("libpthread.so.0")),
)


def check_plugin(path: Path, abi: str, has_threads: bool = False) -> None:
    """Check that the boards of an ABI can load a plugin; on this PC, any glibc is accepted.

    Args:
        path: the plugin.
        abi: the name of its ABI.
        has_threads: whether the operator has threads of its own.

    Raises:
        OpkitError: the plugin cannot be read, or violates a requirement; the message lists every
            reason.
    """
    requirements = _WITH_THREADS if has_threads else _REQUIREMENTS
    elf.check(path, ABIS[abi], requirements, any_glibc=abi not in ("aarch64", "armhf"))
