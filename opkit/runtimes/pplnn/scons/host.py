"""The driver and the library for the operator's cases, on this PC and in static harnesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from SCons.Action import Action

from opkit.build.compile_environment import compiler_for
from opkit.build.harness import GUARDED, Parts, harness, runtime_library
from opkit.build.libraries import instrumented, kernel_objects, profiled_objects, thread_libraries
from opkit.runtimes.pplnn.generated import operator_source
from opkit.runtimes.pplnn.scons.library import FOLDER, RUNTIME, math_objects, math_sources
from opkit.runtimes.pplnn.settings import NAME

HOST = f"{FOLDER}/host"
DRIVER = f"{RUNTIME}/harness/*.c"


def host(env: Any, reports: bool) -> list[Any]:
    """Return the nodes of harness, driver and libraries for this PC, in `build/pplnn/host/`.

    Args:
        env: the environment.
        reports: whether a report follows, which needs the profiled library.
    """
    driver = runtime_library(env, f"{HOST}/libpplnn_driver.so", DRIVER)
    host_env = compiler_for(env, "x64", cxx=True)
    delivered, profiled = f"{HOST}/delivered", f"{HOST}/profiled"
    checked_env = instrumented(host_env)
    libraries = [
        _library(host_env, delivered, _kernel(host_env, delivered, []), driver),
        _library(checked_env, HOST, _kernel(checked_env, HOST, GUARDED), driver),
    ]
    if reports:
        objects = _profiled_kernel(host_env, profiled)
        libraries.append(_library(host_env, profiled, objects, driver))
    return [harness(env), driver, *libraries]


def _library(env: Any, folder: str, objects: list[Any], driver: Any) -> Any:
    """Return the node of the operator's library for the driver, in a folder."""
    library = env.Command(
        f"{folder}/lib{env['OPERATOR'].lower}.so",
        objects,
        Action("$SHAREDCOM", "$SHAREDCOMSTR"),
        LIBRARIES=[
            *("-Wl,-z,defs", "-Wl,--no-as-needed", f"-L{HOST}", "-lpplnn_driver", "-lm"),
            *thread_libraries(env),
        ],
    )
    env.Depends(library, driver)
    return library


def _guarded_kernel(env: Any, folder: str, flags: Sequence[str]) -> list[Any]:
    return _kernel(env, folder, [*GUARDED, *flags])


def _kernel(env: Any, folder: str, flags: Sequence[str]) -> list[Any]:
    table = [operator_source(env["OPERATOR"])]
    sources = math_sources(env)
    return [*math_objects(env, sources, folder, flags), *kernel_objects(env, table, folder)]


def _profiled_kernel(env: Any, folder: str) -> list[Any]:
    table = [operator_source(env["OPERATOR"])]
    glue, *others = math_sources(env)
    return [
        *profiled_objects(env, folder, [], lambda flags: math_objects(env, [glue], folder, flags)),
        *math_objects(env, others, folder),
        *kernel_objects(env, table, folder),
    ]


def harness_parts(env: Any) -> Parts:
    """Return the parts of static harnesses."""
    entry = f"{env['OPERATOR'].lower}_pplnn"
    return Parts(f"{NAME}-", entry, _guarded_kernel, (DRIVER,), cxx=True)
