"""Read the folder of the vendor's driver for RKNN-Toolkit 1.x."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.toolchains import elf
from opkit.toolchains.abi import ABIS

OPENVX = "libOpenVX.so"
"""The name by which operators need the driver; its file may have a version as its suffix."""
HARDWARE = "libGAL.so"
"""The hardware layer, which a stand-in replaces on a PC."""
RUNTIME = "librknn_runtime.so"
"""The runtime of models, above the driver."""
MODEL = "model"
"""The setting of an executor that runs models in the runtime, not graphs in the driver."""
DRIVER_ABIS = ("aarch64", "armhf")
PLACE = (
    "the vendor's public repository rockchip-linux/rknpu has the driver in "
    "drivers/linux-aarch64-mini/usr/lib (rk1808, rk3399pro) and "
    "drivers/linux-armhf-puma-mini/usr/lib (rv1109, rv1126)"
)

_SYSTEM = re.compile(r"(lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s)|ld-linux.*)\.so(\.\d+)*")
"""The libraries of the C and C++ languages; Debian's packages have them."""
_VERSION = re.compile(rb"librknn_runtime version (\d+(?:\.\d+)+)")
_STUB = "STUB({})"
_OPENVX_NAMES = (OPENVX, f"{OPENVX}.1")


@dataclass(frozen=True)
class Driver:
    """The vendor's driver.

    Attributes:
        folder: its folder; None: a board's own.
        abi: the name of its ABI.
        has_runtime: whether librknn_runtime is beside it.
        version: the version of librknn_runtime; empty: unknown.
        hardware_names: the functions of its hardware layer, for the stand-in.
    """

    folder: Path | None
    abi: str
    has_runtime: bool
    version: str
    hardware_names: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name in the table of cases."""
        return f"driver {self.version}".strip()

    @property
    def runtime_name(self) -> str:
        """The name of the runtime of models in the table of cases."""
        return f"librknn_runtime {self.version}".strip()


def driver_of_board(abi: str) -> Driver:
    """Return the driver that a board of an ABI has."""
    return Driver(None, abi, has_runtime=True, version="", hardware_names=())


def read_driver(folder: Path) -> Driver:
    """Read the driver in a folder.

    Raises:
        OpkitError: a file is missing, or is not a library of a supported ABI; the message says
            where the vendor has the files.
    """
    if not folder.is_dir():
        raise OpkitError(f"driver={folder}: not a folder; {PLACE}")
    for name in _OPENVX_NAMES:
        if not (folder / name).is_file():
            raise OpkitError(
                f"driver={folder}: {name} not found. The folder needs {OPENVX}.1.2 and links to it "
                f"named {' and '.join(_OPENVX_NAMES)}; {PLACE}"
            )
    openvx = folder / OPENVX
    architecture = _read(openvx).architecture
    abi = next((name for name in DRIVER_ABIS if ABIS[name].elf == architecture), "")
    if not abi:
        expected = " or ".join(DRIVER_ABIS)
        raise OpkitError(f"driver={openvx}: it is {architecture} (expected {expected}); {PLACE}")
    _refuse_incomplete(folder, openvx, architecture)
    runtime = folder / RUNTIME  # the only file with a version
    found = _VERSION.search(runtime.read_bytes()) if runtime.is_file() else None
    return Driver(
        folder=folder,
        abi=abi,
        has_runtime=runtime.is_file(),
        version=found.group(1).decode() if found else "",
        hardware_names=tuple(name for name in _read(folder / HARDWARE).exports if name[:1] != "_"),
    )


def stubs(names: tuple[str, ...]) -> str:
    """Return the C source of weak functions that return 0, for names of the hardware layer."""
    lines = "\n".join(map(_STUB.format, names))
    return (
        "/* The functions of the hardware layer; those of the stand-in take precedence. */\n"
        '#define STUB(name) __attribute__((weak, visibility("default"))) long name(void); '
        "long name(void) { return 0; }\n"
        f"{lines}\n"
    )


def _refuse_incomplete(folder: Path, openvx: Path, architecture: str) -> None:
    """Refuse a driver without one of the libraries that it loads.

    Raises:
        OpkitError: a library is missing or damaged, or has another ABI than libOpenVX.
    """
    missing = []
    found = {openvx.name}
    waiting = [openvx]
    while waiting:
        for name in _read(waiting.pop()).needed:
            if _SYSTEM.fullmatch(name) or name.startswith(OPENVX) or name in found:
                continue
            found.add(name)
            path = folder / name
            if not path.is_file():
                missing.append(name)
                continue
            if (other := _read(path).architecture) != architecture:
                raise OpkitError(f"driver={path}: it is {other}, but {OPENVX} is {architecture}")
            waiting.append(path)
    if missing:
        raise OpkitError(
            f"driver={folder}: {', '.join(missing)} not found, which {openvx.name} requires; "
            f"{PLACE}"
        )


def _read(path: Path) -> elf.Library:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OpkitError(f"driver={path}: {error.strerror}; {PLACE}") from None
    try:
        return elf.read(data)
    except elf.ElfError as error:
        hint = "; a pointer of Git LFS: fetch the file" if data.startswith(b"version ") else ""
        raise OpkitError(f"driver={path}: {error}{hint}; {PLACE}") from None
