"""What runs the operator's cases: on this PC, and elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from SCons.Action import Action

from opkit.build import static_harness
from opkit.build.harness import GUARDED_MEMORY
from opkit.build.host_link import linked
from opkit.build.kernel_objects import kernel_objects
from opkit.build.static_harness import Parts
from opkit.runtimes.pplnn.generated import operator_source
from opkit.runtimes.pplnn.scons.library import FOLDER, ROOM, math_objects
from opkit.runtimes.pplnn.settings import NAME

DRIVER = f"{ROOM}/harness/*.c"
# zig would check for undefined behavior by default, and compile a library for that.
COMPILE = "-O2 -g -fno-omit-frame-pointer -fno-sanitize=undefined".split()
LINK = "-fno-sanitize=undefined -Wl,-z,defs".split()
SONAME = "libpplnn_driver.so"


def host(env: Any) -> list[Any]:
    """Return the nodes of what runs the cases on this PC, in `build/pplnn/host/`."""
    driver = linked(
        env,
        "$SHAREDCOM",
        target=f"{FOLDER}/host/{SONAME}",
        sources=[DRIVER, GUARDED_MEMORY],
        objects=f"{FOLDER}/host/",
        CCFLAGS=COMPILE,
        LINKFLAGS=LINK,
        LIBRARIES=[f"-Wl,-soname,{SONAME}"],
    )
    return [env.Harness(), driver, _library(env, driver)]


def _library(env: Any, driver: Any) -> Any:
    """Return the node of the library that the driver calls, with debug information."""
    folder = f"{FOLDER}/host"
    host_env = env.CompilerFor("x64", cxx=True)
    flags, link_flags = (
        ["-g" if flag in ("-g0", "-s") else flag for flag in host_env[name]]
        for name in ("CCFLAGS", "LINKFLAGS")
    )
    host_env.Replace(CCFLAGS=flags, LINKFLAGS=link_flags)
    library = host_env.Command(
        f"{folder}/lib{env['OPERATOR'].lower}.so",
        _kernel(host_env, folder),
        Action("$SHAREDCOM", "$SHAREDCOMSTR"),
        LIBRARIES=["-Wl,-z,defs", "-Wl,--no-as-needed", f"-L{folder}", "-lpplnn_driver", "-lm"],
    )
    host_env.Depends(library, driver)
    return library


def target_harness(env: Any, abi_name: str) -> Any:
    """Return the node of `build/check/pplnn-<abi>/harness`."""
    return static_harness.target_harness(env, abi_name, _parts(env))


def sanitized_harness(env: Any, names: Sequence[str]) -> Any:
    """Return the node of `build/check/pplnn-<names>/harness`.

    Raises:
        OpkitError: there is neither gcc nor clang.
    """
    return static_harness.sanitized_harness(env, names, _parts(env))


def debugged_harness(env: Any) -> Any:
    """Return the node of `build/check/gdb/harness`."""
    return static_harness.debugged_harness(env, _parts(env))


def _kernel(env: Any, folder: str, flags: Sequence[str] = ()) -> list[Any]:
    table = [operator_source(env["OPERATOR"])]
    return [*math_objects(env, folder, flags), *kernel_objects(env, table, folder)]


def _parts(env: Any) -> Parts:
    entry = f"{env['OPERATOR'].lower}_pplnn"
    return Parts(f"{NAME}-", entry, _kernel, (DRIVER,), cxx=True)
