"""GCC: the distribution's, Linaro's, and one at a path given by the user."""

from __future__ import annotations

import os
import platform
import re
import shlex
from pathlib import Path

from opkit.toolchains.abi import ABIS, Abi
from opkit.toolchains.compiler import (
    Compiler,
    Missing,
    Options,
    ToolchainError,
    described,
    first_program,
)


def find_gnu(abi: Abi, options: Options) -> Compiler | Missing:
    """Return `<triple>-gcc`; on an x86-64 PC, `gcc` is enough for x64."""
    places, package = [f"{abi.triple}-gcc"], f"gcc-{abi.triple.replace('_', '-')}"
    if abi.name == "x64" and platform.machine() == "x86_64":
        places, package = [*places, "gcc"], "gcc"
    program = first_program(places)
    if program is None:
        return Missing("gcc", tuple(map(described, places)), f"sudo apt install {package}")
    return Compiler("gnu", abi.name, (program,), abi.gnu_flags)


RELEASE = "gcc-linaro-6.3.1-2017.05-x86_64"
DOWNLOADS = "https://releases.linaro.org/components/toolchain/binaries/6.3-2017.05"
"""Assumed, not evidenced: where Linaro keeps that release."""
_TRIPLES = frozenset(
    {"aarch64-linux-gnu", "arm-linux-gnueabihf"}
)  # of the compilers in the release


def find_linaro(abi: Abi, options: Options) -> Compiler | Missing | None:
    """Return the compiler of the release, or None for an ABI that the release does not support."""
    if abi.triple not in _TRIPLES:
        return None
    release = f"{RELEASE}_{abi.triple}"
    folder = options.home / ".rknn"
    place = str(folder / release / "bin" / f"{abi.triple}-gcc")
    program = first_program([place])
    if program is None:
        unpack = shlex.join(["tar", "-xf", f"{release}.tar.xz", "-C", str(folder)])
        make = shlex.join(["mkdir", "-p", str(folder)])
        archive = f"{DOWNLOADS}/{abi.triple}/{release}.tar.xz"
        remedy = f"{make} && {unpack}\n  after downloading {archive}"
        return Missing("linaro's gcc", (described(place),), remedy)
    return Compiler("linaro", abi.name, (program,), abi.gnu_flags)


def find_prefixed(abi: Abi, options: Options) -> Compiler | None:
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
