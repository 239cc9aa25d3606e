"""Run programs with a vendor's libraries, which are linked with glibc and libstdc++, on this PC.

The instruction-set emulator takes glibc from a folder of the target's libraries, by default that of
Debian's and Ubuntu's packages for cross compilers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from opkit.check.executors import EMULATORS, emulator, has_emulator
from opkit.errors import OpkitError
from opkit.toolchains import elf
from opkit.toolchains.abi import ABIS

LIBRARIES = ("libc.so.6", "libstdc++.so.6", "libgcc_s.so.1")
_DEBIAN_NAMES = {"aarch64": "arm64"}
"""ABI -> its name in Debian, if that differs."""
_FOLDER_OPTION = "-L"  # of qemu


def packages(abi: str) -> str:
    """Return Debian's packages with the libraries of an ABI, for messages."""
    name = _DEBIAN_NAMES.get(abi, abi)
    return f"libc6-{name}-cross libstdc++6-{name}-cross libgcc-s1-{name}-cross"


def readiness(abis: Sequence[str]) -> str:
    """Return a sentence for `scons -h`: what of these ABIs runs on this PC, and what is missing."""
    missing = {abi: lacking for abi in abis if (lacking := _missing_packages(abi))}
    ready = " and ".join(abi for abi in abis if abi not in missing) or "no ABI"
    install = " ".join(dict.fromkeys(name for names in missing.values() for name in names))
    others = f"; for {' and '.join(missing)} run sudo apt install {install}" if missing else ""
    return f"This PC runs it for {ready}{others}"


def _missing_packages(abi: str) -> list[str]:
    names = zip(LIBRARIES, packages(abi).split(), strict=True)
    folder = Path("/usr", ABIS[abi].triple, "lib")
    emulators = [] if has_emulator(abi) else [EMULATORS]
    return [*emulators, *(name for library, name in names if not (folder / library).exists())]


def abi_of(path: Path, abis: tuple[str, ...] = ("aarch64", "armhf")) -> str:
    """Return the ABI of a vendor's library.

    Args:
        path: the library.
        abis: the supported ABIs.

    Raises:
        OpkitError: the file cannot be read, is not a library, or has another ABI; the message
            begins with the reason.
    """
    try:
        library = elf.read(path.read_bytes())
    except OSError as error:
        raise OpkitError(str(error.strerror)) from None
    for abi in abis:
        if library.architecture == ABIS[abi].elf and library.shared:
            return abi
    raise OpkitError(f"it is {library.architecture} (expected a library for {' or '.join(abis)})")


def emulated(abi: str, environment: Mapping[str, str], qemu: str = "") -> tuple[str, ...]:
    """Return the emulator's command for a program with a vendor's libraries.

    Args:
        abi: the ABI of the program.
        environment: the program's variables, such as LD_LIBRARY_PATH.
        qemu: the emulator's command; it may name a folder of libraries with -L. Empty: the ABI's
            emulator on PATH.

    Raises:
        OpkitError: the emulator or a library is missing; the message says how to install it.
    """
    command = emulator(abi, qemu)
    if _FOLDER_OPTION not in command:
        folder = Path("/usr", ABIS[abi].triple)
        missing = [name for name in LIBRARIES if not (folder / "lib" / name).exists()]
        if missing:
            raise OpkitError(
                f"no {' and '.join(missing)} for {abi} in {folder}/lib. Install them with sudo apt "
                f"install {packages(abi)}, or pass their folder with target=... "
                f"qemu='{command[0]} {_FOLDER_OPTION} FOLDER'"
            )
        command = (*command, _FOLDER_OPTION, str(folder))
    variables = (("-E", f"{name}={value}") for name, value in environment.items())
    return (*command, *(word for pair in variables for word in pair))
