"""Which C compiler makes the device library of an ABI, and where it was found.

Nothing is run to find it: a compiler is a file in one of a few places.

    toolchain   x64            aarch64, armhf
    auto        zig, gnu       linaro, zig
    zig         zig            zig
    linaro      zig, gnu       linaro
    gnu         gnu            gnu
    prefix      <prefix>gcc for the ABI that the prefix names, `auto` for the others

The first that is there is taken. Linaro has no compiler for the PC, so x64 takes another one even
where linaro was asked for; every package carries a library for x64.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from opkit.errors import OpkitError
from opkit.toolchains.abi import Abi

TOOLCHAINS: tuple[str, ...] = ("auto", "zig", "linaro", "gnu", "prefix")
"""What `toolchain=` takes."""

LINARO_RELEASE = "gcc-linaro-6.3.1-2017.05-x86_64"
"""The release that the vendor's guide unpacks into `~/.rknn`."""

_ORDER: dict[str, dict[str, tuple[str, ...]]] = {
    "auto": {"x64": ("zig", "gnu"), "aarch64": ("linaro", "zig"), "armhf": ("linaro", "zig")},
    "zig": {"x64": ("zig",), "aarch64": ("zig",), "armhf": ("zig",)},
    "linaro": {"x64": ("zig", "gnu"), "aarch64": ("linaro",), "armhf": ("linaro",)},
    "gnu": {"x64": ("gnu",), "aarch64": ("gnu",), "armhf": ("gnu",)},
}
_ARCHITECTURES = {"x86_64": "x64", "aarch64": "aarch64", "arm64": "aarch64"}


class ToolchainError(OpkitError):
    """No compiler where one should be."""


@dataclass(frozen=True)
class Compiler:
    """A C compiler for one ABI.

    Attributes:
        toolchain: what it is: `zig`, `linaro`, `gnu` or `prefix`.
        abi: the name of the ABI that it compiles for.
        command: the program and what makes it compile for the ABI, for compiling and linking.
        flags: which processor, and what keeps the code fit for it; for compiling and linking.
    """

    toolchain: str
    abi: str
    command: tuple[str, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class _Missing:
    """A compiler that is not there: what it is, where it was looked for, how one gets it."""

    what: str
    places: tuple[str, ...]
    remedy: str


def find(
    toolchain: str, abi: Abi, prefix: str = "", sysroot: str = "", home: Path | None = None
) -> Compiler:
    """Return the compiler of a toolchain for an ABI.

    Args:
        toolchain: one of `TOOLCHAINS`; the module's table says what each means.
        abi: what to compile for.
        prefix: for toolchain `prefix`: all of GCC's path or name that stands before `gcc`, such as
            `/opt/sdk/bin/arm-buildroot-linux-gnueabihf-`. Its first word says for which ABI it is.
        sysroot: for toolchain `prefix`: the folder with the board's headers and libraries, if the
            compiler does not know it.
        home: the folder that holds `.rknn`; the user's own by default.

    Raises:
        ToolchainError: there is none; the message says what was looked for, where, and the
            command that installs it. Or the arguments do not fit together.
    """
    home = home or Path.home()
    if toolchain not in TOOLCHAINS:
        raise ToolchainError(f"unknown toolchain '{toolchain}'; allowed: {', '.join(TOOLCHAINS)}")
    if toolchain == "prefix":
        if _abi_of(prefix) == abi.name:
            return _prefixed(abi, prefix, sysroot)
        toolchain = "auto"
    elif prefix or sysroot:
        given = f"prefix={prefix}" if prefix else f"sysroot={sysroot}"
        raise ToolchainError(
            f"{given} has no meaning with toolchain={toolchain}; pass toolchain=prefix with it"
        )
    missing = []
    for name in _ORDER[toolchain][abi.name]:
        found = _FINDERS[name](abi, home)
        if isinstance(found, Compiler):
            return found
        missing.append(found)
    raise _not_found(toolchain, abi, missing)


def cxx_command(compiler: Compiler) -> tuple[str, ...]:
    """Return the command of the C++ compiler that goes with a C compiler.

    Raises:
        ToolchainError: it is not there.
    """
    program, *rest = compiler.command
    if compiler.toolchain == "zig":
        return (program, "c++", *rest[1:])
    cxx = beside(program)
    if shutil.which(cxx) is None:
        raise ToolchainError(
            f"op.yml lists C++ sources, and there is no C++ compiler for {compiler.abi}: no {cxx} "
            f"beside {program}. Install it (for Debian's gcc: sudo apt install "
            f"{Path(cxx).name.replace('_', '-')}), or build with toolchain=zig"
        )
    return (cxx, *rest)


@cache
def zig_version(program: str) -> str:
    """Return the version of a zig; that of the package is in a name, so that zig need not start."""
    folder = Path(program).parent
    installed = (
        sorted(folder.parent.glob("ziglang-*.dist-info")) if folder.name == "ziglang" else []
    )
    if len(installed) == 1:
        return installed[0].name.removeprefix("ziglang-").removesuffix(".dist-info")
    run = subprocess.run([program, "version"], check=True, capture_output=True, text=True)
    return run.stdout.strip()


def beside(program: str) -> str:
    """Return the path of the C++ compiler that comes with gcc or clang."""
    return re.sub(
        r"(gcc|clang)$", lambda found: {"gcc": "g++", "clang": "clang++"}[found[1]], program
    )


def _zig(abi: Abi, home: Path) -> Compiler | _Missing:
    wheel = importlib.util.find_spec("ziglang")
    folders = wheel.submodule_search_locations if wheel else None
    places = [str(Path(folder, "zig")) for folder in folders or ()] + ["zig"]
    program = _first(places)
    if program is None:
        looked = tuple(map(_place, places))
        if not folders:
            looked = (f"the package 'ziglang' of {sys.executable}", *looked)
        return _Missing("zig", looked, f"{shlex.quote(sys.executable)} -m pip install ziglang")
    # zig traps undefined behaviour by default; a device library should not need its run-time.
    return Compiler(
        "zig",
        abi.name,
        (program, "cc", "-target", f"{abi.triple}.{abi.glibc_ceiling}"),
        (f"-mcpu={abi.zig_cpu}", "-fno-sanitize=undefined"),
    )


def _linaro(abi: Abi, home: Path) -> Compiler | _Missing:
    release = f"{LINARO_RELEASE}_{abi.triple}"
    folder = home / ".rknn"
    place = str(folder / release / "bin" / f"{abi.triple}-gcc")
    program = _first([place])
    if program is None:
        unpack = shlex.join(["tar", "-xf", f"{release}.tar.xz", "-C", str(folder)])
        make = shlex.join(["mkdir", "-p", str(folder)])
        return _Missing("linaro's gcc", (_place(place),), f"{make} && {unpack}")
    return Compiler("linaro", abi.name, (program,), abi.gnu_flags)


def _gnu(abi: Abi, home: Path) -> Compiler | _Missing:
    places, package = [f"{abi.triple}-gcc"], f"gcc-{abi.triple.replace('_', '-')}"
    if abi.name == "x64" and platform.machine() == "x86_64":
        places, package = [*places, "gcc"], "gcc"
    program = _first(places)
    if program is None:
        return _Missing("gcc", tuple(map(_place, places)), f"sudo apt install {package}")
    return Compiler("gnu", abi.name, (program,), abi.gnu_flags)


_FINDERS: dict[str, Callable[[Abi, Path], Compiler | _Missing]] = {
    "zig": _zig,
    "linaro": _linaro,
    "gnu": _gnu,
}


def _abi_of(prefix: str) -> str:
    """Return the name of the ABI that a prefix's first word stands for."""
    if not prefix:
        raise ToolchainError(
            "toolchain=prefix needs prefix=, all of the compiler's path or name that stands "
            "before 'gcc': prefix=/opt/sdk/bin/aarch64-buildroot-linux-gnu-"
        )
    architecture, dash, _ = Path(prefix).name.partition("-")
    if architecture in _ARCHITECTURES and dash:
        return _ARCHITECTURES[architecture]
    if architecture.startswith("arm") and dash:
        return "armhf"
    raise ToolchainError(
        f"prefix={prefix}: cannot tell which processor it is for; its last part has to begin with "
        "'x86_64-', 'aarch64-' or 'arm-', as in prefix=/opt/sdk/bin/aarch64-buildroot-linux-gnu-"
    )


def _prefixed(abi: Abi, prefix: str, sysroot: str) -> Compiler:
    place = os.path.expanduser(f"{prefix}gcc")  # noqa: PTH111 - a name without a folder stays one
    program = _first([place])
    if program is None:
        raise ToolchainError(
            f"prefix={prefix}: no compiler there. Looked for:\n  {_place(place)}\n"
            "The prefix is all that stands before 'gcc', with the dash at its end. A Buildroot SDK "
            "is unpacked with 'tar -xf', a Yocto SDK by running its .sh file"
        )
    command: tuple[str, ...] = (program,)
    if sysroot:
        root = Path(sysroot).expanduser().absolute()
        if not root.is_dir():
            raise ToolchainError(
                f"sysroot={sysroot}: there is no folder {root}; it is the one in the SDK that "
                "holds the board's usr/include and usr/lib"
            )
        command += (f"--sysroot={root}",)
    return Compiler("prefix", abi.name, command, abi.gnu_flags)


def _first(places: list[str]) -> str | None:
    """Return the absolute path of the first that is a program; a bare name is sought on PATH."""
    for place in places:
        program = shutil.which(place)
        if program is not None:
            return str(Path(program).absolute())
    return None


def _place(place: str) -> str:
    if os.path.dirname(place):  # noqa: PTH120 - the text decides, as in shutil.which
        return place
    return f"{place} on PATH ({os.environ.get('PATH', '')})"


def _not_found(toolchain: str, abi: Abi, missing: list[_Missing]) -> ToolchainError:
    looked = "".join(f"\n  {place}" for each in missing for place in each.places)
    remedies = "\nor\n".join(f"  {each.remedy}" for each in missing)
    what = " or ".join(each.what for each in missing)
    return ToolchainError(
        f"toolchain={toolchain}: no compiler for {abi.name} ({what}). Looked for:{looked}\n"
        f"Install it with\n{remedies}"
    )
