"""The option driver=: the cases in the boards' own OpenVX driver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.compile_environment import compiler_for
from opkit.build.harness import CHECK_FOLDER, stand_in, vendor_harness
from opkit.build.machinery import FOLDER as MACHINERY
from opkit.build.machinery import INCLUDES
from opkit.build.options import Request
from opkit.check import executors
from opkit.check.executors import is_board
from opkit.common.errors import OpkitError
from opkit.description.spec import OpSpec
from opkit.runtimes.build import VendorProgram
from opkit.runtimes.rknn.board_driver import (
    DRIVER_ABIS,
    HARDWARE,
    MODEL,
    OPENVX,
    RUNTIME,
    Driver,
    driver_of_board,
    read_driver,
    stubs,
)
from opkit.runtimes.rknn.scons.package import device_library

OPTION = "driver"
SOURCES = f"{MACHINERY}/runtimes/rknn/driver"
HEADERS = (f"#{MACHINERY}/runtimes/rknn/include",)
_MALLOC = "glibc.malloc.tcache_count=0"
"""glibc does not initialize memory from this cache; see the use of mallopt in model.c."""


def options(variables: Any, operator: OpSpec) -> None:
    """Add the option."""
    variables.Add(
        OPTION,
        "with check: a folder with the boards' OpenVX driver of RKNN-Toolkit 1.x (libOpenVX.so and "
        "the libraries that it loads): run the cases in it, too, in qemu. With qemu=ssh:HOST, any "
        f"word: the driver is the board's. {executors.readiness(DRIVER_ABIS)}",
        "",
    )


def check(env: Any, request: Request) -> None:
    """Refuse a folder without a whole driver.

    Raises:
        OpkitError: a file is missing or invalid, or there is no check.
    """
    if not env[OPTION]:
        return
    if not request.commands & {"check", "report"}:
        raise OpkitError(
            f"{OPTION}={env[OPTION]} runs the cases; write scons check {OPTION}={env[OPTION]}"
        )
    driver = _driver(env, request)
    if env["qemu"] and driver.abi not in request.abis:
        raise OpkitError(
            f"{OPTION}={env[OPTION]} is for {driver.abi}, but qemu= runs programs for "
            f"{', '.join(request.abis)}; pass a target of {driver.abi}"
        )


def _driver(env: Any, request: Request) -> Driver:
    """Return the driver that the option names.

    Raises:
        OpkitError: a file of its folder is missing or invalid.
    """
    folder = Path(env[OPTION]).expanduser()
    if is_board(env["qemu"]) and request.abis:
        return driver_of_board(request.abis[0])
    return read_driver(folder)


def driver_programs(env: Any, request: Request) -> Sequence[VendorProgram]:
    """Return the programs that run the cases in the driver, and in the runtime of models above it.

    See Build.vendor_programs.
    """
    if not env[OPTION]:
        return ()
    driver = _driver(env, request)
    abi, folder = driver.abi, f"driver-{driver.abi}"
    files, environment = [], {}
    if driver.folder is not None:
        hardware = Path(f"{CHECK_FOLDER}/{folder}/{HARDWARE}").absolute()
        files = [_hardware(env, driver, folder)]
        environment = {
            "LD_LIBRARY_PATH": f"{hardware.parent}:{driver.folder.absolute()}",
            "LD_PRELOAD": HARDWARE,  # ld.so takes no path with a space
            "GLIBC_TUNABLES": _MALLOC,
        }
    programs: list[tuple[str, Any, dict[str, str]]] = [
        (driver.name, _graph_program(env, driver, folder), {})
    ]
    if driver.has_runtime:  # it runs models, which bring the device library
        stub = stand_in(
            env,
            abi,
            f"{folder}/model/stub/{RUNTIME}",
            [f"{SOURCES}/rknn_runtime_stub.c"],
            [f"-Wl,-soname,{RUNTIME}"],
        )
        sources = [f"{SOURCES}/model.c"]
        node = vendor_harness(
            env, abi, f"{folder}/model", sources, kernel=stub, entry="model_entry"
        )
        programs.append((driver.runtime_name, node, {MODEL: "1"}))
    return [
        VendorProgram(
            name=name, node=node, files=files, abi=abi, environment=environment, settings=settings
        )
        for name, node, settings in programs
    ]


def _graph_program(env: Any, driver: Driver, folder: str) -> Any:
    """Return the node of the harness, with the device library in it."""
    library = device_library(env, driver.abi)
    own_env = compiler_for(env, driver.abi)
    own_env.Replace(CPPPATH=[*INCLUDES, *HEADERS])
    own_env.Append(
        CPPDEFINES={"DEVICE_LIBRARY": library[0].path, "OPERATOR_NAME": env["OPERATOR"].name}
    )
    embedded = own_env.SharedObject(
        f"{CHECK_FOLDER}/{folder}/device_library.o", f"{SOURCES}/device_library.c"
    )
    env.Depends(embedded, library)
    openvx = env.File(f"build/{driver.abi}/openvx/{OPENVX}")  # device_library's stub
    return vendor_harness(
        env,
        driver.abi,
        folder,
        [f"{SOURCES}/runtime.c"],
        HEADERS,
        kernel=[*embedded, openvx],
        entry="device_library",
    )


def _hardware(env: Any, driver: Driver, folder: str) -> Any:
    """Return the node of the stand-in for the hardware layer."""
    text = env.Value(stubs(driver.hardware_names))
    source = env.Command(f"{CHECK_FOLDER}/{folder}/stubs.c", text, Action(_write, None))
    return stand_in(
        env,
        driver.abi,
        f"{folder}/{HARDWARE}",
        [f"{SOURCES}/gal/*.c", source[0]],
        [f"-Wl,-soname,{HARDWARE}"],
    )


def _write(target: Any, source: Any, env: Any) -> None:
    Path(target[0].path).write_bytes(source[0].get_contents())
