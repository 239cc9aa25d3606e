"""device_library(env, abi): compiles, links and checks the library for a board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.compile_environment import compiler_for
from opkit.build.libraries import kernel_objects, stub
from opkit.build.options import print_errors
from opkit.runtimes.rknn.sources import kernel_sources


def device_library(env: Any, abi_name: str) -> Any:
    """Return the node of `build/<abi>/lib<operator>.so`.

    It exports only the kernel list, so that one process can load two operators. It is linked
    against a stub of libOpenVX.so; the board has the real one.
    """
    env.SetDefault(DEVICE_LIBRARIES={})  # ABI -> node, each declared once
    libraries = env["DEVICE_LIBRARIES"]
    if abi_name not in libraries:
        libraries[abi_name] = _declare(env, abi_name)
    return libraries[abi_name]


def _declare(env: Any, abi_name: str) -> Any:
    operator = env["OPERATOR"]
    folder = f"build/{abi_name}"
    abi_env = compiler_for(env, abi_name)
    exports = f"generated/{operator.lower}.exports"
    library = abi_env.Command(
        f"{folder}/lib{operator.lower}.so",
        kernel_objects(abi_env, kernel_sources(operator), folder),
        [
            Action("$SHAREDCOM", "$SHAREDCOMSTR"),
            Action(print_errors(_examine), None, varlist=["ABI_NAME"]),
        ],
        ABI_NAME=abi_name,
        LIBRARIES=[
            f"-Wl,--version-script={exports}",
            "-Wl,-z,defs",
            f"-L{folder}/openvx",
            "-Wl,--no-as-needed",
            "-lOpenVX",
            "-Wl,--as-needed",
            "-lm",
        ],
    )
    openvx = stub(abi_env, f"{folder}/openvx/libOpenVX.so", "generated/openvx_stub.c")
    abi_env.Depends(library, [openvx, exports])
    return library


def _examine(target: Any, source: Any, env: Any) -> None:
    from opkit.runtimes.rknn.library_check import check_library

    # A library for this PC alone may use its glibc; the other rules hold for a check, too.
    path = Path(target[0].path)
    check_library(path, env["ABI_NAME"], env["OPERATOR"].name, any_glibc=True)
