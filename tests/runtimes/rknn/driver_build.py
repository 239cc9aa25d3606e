"""Build a fake driver in place of the vendor's, and the stand-in for its hardware layer."""

from __future__ import annotations

from pathlib import Path

from opkit.runtimes.rknn.board_driver import Driver, stubs
from opkit.toolchains.abi import ABIS
from tests.compiling import C_SOURCES, GUARDED_MEMORY, RKNN, build

HARDWARE_SOURCES = sorted((RKNN / "driver/gal").glob("*.c"))
_NOT_IN_THE_STAND_IN = "long gcoHAL_NotInTheStandIn(void);\nlong gcoHAL_NotInTheStandIn(void)\n"


def driver_folder(folder: Path, abi_name: str) -> Path:
    """Build a fake driver for an ABI, the host runtime, with the file names of the vendor's."""
    abi = ABIS[abi_name]
    folder.mkdir()
    extra = folder / "extra.c"
    extra.write_text(_NOT_IN_THE_STAND_IN + "{\n    return 7;\n}\n")
    hardware = build(
        folder / "libGAL.so", "-shared", "-Wl,-soname,libGAL.so", *HARDWARE_SOURCES, extra, abi=abi
    )
    host_runtime = [path for path in (RKNN / "host_runtime").glob("*.c") if path.name != "driver.c"]
    build(
        folder / "libOpenVX.so.1.2",
        "-shared",
        "-Wl,-soname,libOpenVX.so.1",
        "-DHARNESS_STATIC",
        C_SOURCES / "fake_driver.c",
        *host_runtime,
        *GUARDED_MEMORY,
        hardware,
        "-lpthread",
        abi=abi,
    )
    for name in ("libOpenVX.so", "libOpenVX.so.1"):
        (folder / name).symlink_to("libOpenVX.so.1.2")
    build(
        folder / "librknn_runtime.so",
        "-shared",
        "-Wl,-soname,librknn_runtime.so",
        C_SOURCES / "fake_rknn_runtime.c",
        abi=abi,
    )
    extra.unlink()
    return folder


def stand_in(driver: Driver, folder: Path) -> Path:
    """Build the stand-in for the hardware layer of a driver."""
    source = folder / "stubs.c"
    source.write_text(stubs(driver.hardware_names))
    return build(
        folder / "libGAL.so",
        "-shared",
        "-Wl,-soname,libGAL.so",
        *HARDWARE_SOURCES,
        source,
        "-ldl",
        "-lpthread",
        abi=ABIS[driver.abi],
    )
