"""What runs the operator's cases: on this PC, and elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from SCons.Action import Action

from opkit.build.compiler import compiler_for
from opkit.build.harness import harness, runtime_library
from opkit.build.libraries import kernel_objects, with_debug_info
from opkit.build.static_harness import Parts
from opkit.runtimes.pplnn.generated import operator_source
from opkit.runtimes.pplnn.scons.library import FOLDER, ROOM, math_objects
from opkit.runtimes.pplnn.settings import NAME

DRIVER = f"{ROOM}/harness/*.c"


def host(env: Any) -> list[Any]:
    """Return the nodes of what runs the cases on this PC, in `build/pplnn/host/`."""
    driver = runtime_library(env, f"{FOLDER}/host/libpplnn_driver.so", DRIVER)
    return [harness(env), driver, _library(env, driver)]


def _library(env: Any, driver: Any) -> Any:
    """Return the node of the library that the driver calls, with debug information."""
    folder = f"{FOLDER}/host"
    host_env = with_debug_info(compiler_for(env, "x64", cxx=True))
    library = host_env.Command(
        f"{folder}/lib{env['OPERATOR'].lower}.so",
        _kernel(host_env, folder),
        Action("$SHAREDCOM", "$SHAREDCOMSTR"),
        LIBRARIES=["-Wl,-z,defs", "-Wl,--no-as-needed", f"-L{folder}", "-lpplnn_driver", "-lm"],
    )
    host_env.Depends(library, driver)
    return library


def _kernel(env: Any, folder: str, flags: Sequence[str] = ()) -> list[Any]:
    table = [operator_source(env["OPERATOR"])]
    return [*math_objects(env, folder, flags), *kernel_objects(env, table, folder)]


def harness_parts(env: Any) -> Parts:
    """Return the parts of static harnesses."""
    entry = f"{env['OPERATOR'].lower}_pplnn"
    return Parts(f"{NAME}-", entry, _kernel, (DRIVER,), cxx=True)
