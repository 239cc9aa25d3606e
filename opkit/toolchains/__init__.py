"""Find the C compiler for the device library of an ABI.

Nothing is run to find it: a compiler is a file in one of a few places.

    toolchain   aarch64, armhf     other ABIs
    auto        linaro, zig        zig, gnu
    zig         zig                zig
    linaro      linaro             zig, gnu
    gnu         gnu                gnu
    prefix      <prefix>gcc for the ABI that the prefix names, `auto` for the others

The first one found is used. Linaro has no compiler for the other ABIs, such as the PC's: they use
another toolchain even with toolchain=linaro. Android's ABIs have the clang of Android's NDK, with
any toolchain.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from opkit.toolchains import gcc, ndk, zig
from opkit.toolchains import gcc as prefixed
from opkit.toolchains.abi import ANDROID_ABIS, Abi
from opkit.toolchains.compiler import Compiler, Missing, Options, ToolchainError

__all__ = ["TOOLCHAINS", "Compiler", "ToolchainError", "find"]

_Finder = Callable[[Abi, Options], Compiler | Missing | None]
"""Returns None if its toolchain has no compiler for the ABI."""

_OTHER_ABIS: tuple[_Finder, ...] = (zig.find, gcc.find_gnu)
_AUTO: tuple[tuple[_Finder, ...], ...] = ((gcc.find_linaro, zig.find), _OTHER_ABIS)
# Each row is tried from the left; after a group without a compiler for the ABI comes the next.
_TOOLCHAINS: dict[str, tuple[tuple[_Finder, ...], ...]] = {
    "auto": _AUTO,
    "zig": ((zig.find,),),
    "linaro": ((gcc.find_linaro,), _OTHER_ABIS),
    "gnu": ((gcc.find_gnu,),),
    "prefix": ((prefixed.find_prefixed,), *_AUTO),
}

TOOLCHAINS: tuple[str, ...] = tuple(_TOOLCHAINS)
"""The values of `toolchain=`."""


def find(
    toolchain: str,
    abi: Abi,
    prefix: str = "",
    sysroot: str = "",
    home: Path | None = None,
    ndk_folder: str = "",
) -> Compiler:
    """Return the compiler of a toolchain for an ABI.

    Args:
        toolchain: one of `TOOLCHAINS`; the module's table explains each.
        abi: the ABI to compile for.
        prefix: for toolchain `prefix`: all of GCC's path or name that stands before `gcc`, such as
            `/opt/sdk/bin/arm-buildroot-linux-gnueabihf-`. Its first word identifies the ABI.
        sysroot: for toolchain `prefix`: the folder with the target system's headers and libraries,
            if the compiler does not know it.
        home: the folder that holds `.rknn`; the user's own by default.
        ndk_folder: the folder of Android's NDK; empty: that of an environment variable.

    Raises:
        ToolchainError: it was not found, and the message has the searched paths and the command
            for its installation; or the arguments contradict each other.
    """
    if toolchain not in _TOOLCHAINS:
        raise ToolchainError(f"unknown toolchain '{toolchain}' (expected {', '.join(TOOLCHAINS)})")
    if toolchain != "prefix" and (prefix or sysroot):
        given = f"prefix={prefix}" if prefix else f"sysroot={sysroot}"
        raise ToolchainError(
            f"{given} has no meaning with toolchain={toolchain}; pass toolchain=prefix with it"
        )
    # Path.home() raises an error for a user without one.
    home = home or Path(os.path.expanduser("~"))  # noqa: PTH111
    options = Options(prefix, sysroot, home, ndk_folder)
    is_android = abi.name in ANDROID_ABIS
    missing: list[Missing] = []
    for finders in ((ndk.find,),) if is_android else _TOOLCHAINS[toolchain]:
        outcomes = [finder(abi, options) for finder in finders]
        for outcome in outcomes:
            if isinstance(outcome, Compiler):
                return outcome
        missing = [outcome for outcome in outcomes if isinstance(outcome, Missing)]
        if None not in outcomes:
            break
    # A prefix finds its compiler or fails by itself; here one for another ABI is missing.
    searched = "auto" if toolchain == "prefix" else toolchain
    option = "os=android" if is_android else f"toolchain={searched}"
    looked = "".join(f"\n  {place}" for each in missing for place in each.places)
    remedies = "\nor\n".join(f"  {each.remedy}" for each in missing)
    what = " or ".join(each.what for each in missing)
    raise ToolchainError(
        f"{option}: no compiler for {abi.name} ({what}). Looked for:{looked}\n"
        f"Install it with\n{remedies}"
    )
