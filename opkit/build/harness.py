"""harness(env): the program that runs kernels on this PC, in `build/host/`.

Beside it is a runtime's part of the harness: runtime_library() links it for this PC, together with
GUARDED_MEMORY; build/static_harness.py has the programs that hold all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from SCons.Action import Action

from opkit.build.compiler import compiler_for
from opkit.build.machinery import FOLDER, INCLUDES
from opkit.build.user_cache import user_cache

SOURCES = f"{FOLDER}/check/harness/*.c"
GUARDED_MEMORY = f"{FOLDER}/check/harness/memory/*.c"
GUARDED_MALLOC = ["-include", f"{FOLDER}/check/harness/memory/guarded_malloc.h"]
PROGRAM = "build/host/harness"
COMPILE = "-O2 -g -fno-sanitize=undefined".split()
# zig would check for undefined behavior by default, and compile a library for that.
RUNTIME_COMPILE = "-O2 -g -fno-omit-frame-pointer -fno-sanitize=undefined".split()
RUNTIME_LINK = "-fno-sanitize=undefined -Wl,-z,defs".split()


def generate(env: Any) -> None:
    """Prepare the environment for the harness."""
    env["HARNESS"] = []  # declared once, for all runtimes


def harness(env: Any) -> Any:
    """Return the node of the harness, which loads a runtime's library and a kernel's."""
    if not env["HARNESS"]:
        env["HARNESS"] += linked(
            env,
            "$PROGRAMCOM",
            target=PROGRAM,
            sources=[SOURCES],
            objects=f"{PROGRAM}-",
            CCFLAGS=COMPILE,
            LINKFLAGS=["-fno-sanitize=undefined"],
            LIBRARIES=["-ldl"],
        )
    return env["HARNESS"]


def runtime_library(env: Any, target: str, sources: str, includes: Sequence[str] = ()) -> Any:
    """Return the node of a runtime's part of the harness, which guards memory.

    Args:
        env: the environment.
        target: the library that is made; kernels find it by its name.
        sources: the pattern of its C sources.
        includes: the folders of more headers, those of a vendor's interface.
    """
    folder, _, name = target.rpartition("/")
    return linked(
        env,
        "$SHAREDCOM",
        target=target,
        sources=[sources, GUARDED_MEMORY],
        objects=f"{folder}/",
        CPPPATH=[*INCLUDES, *includes],
        CCFLAGS=RUNTIME_COMPILE,
        LINKFLAGS=RUNTIME_LINK,
        LIBRARIES=[f"-Wl,-soname,{name}"],
    )


def linked(
    env: Any,
    command: str,
    *,
    target: str,
    sources: Sequence[str],
    objects: str,
    **variables: list[str],
) -> Any:
    """Return the node of a program or a library for this PC that no operator changes.

    Args:
        env: the environment.
        command: what links it: `$PROGRAMCOM` or `$SHAREDCOM`.
        target: the file that is made.
        sources: the patterns of its C sources.
        objects: what the paths of the object files begin with.
        **variables: the construction variables that are other than for a device library.
    """
    link_env = compiler_for(env, "x64")
    link_env.Replace(**{"CPPPATH": INCLUDES, **variables})
    link_env = user_cache(link_env)
    return link_env.Command(
        target,
        [
            link_env.SharedObject(f"{objects}{source.name[:-2]}.o", source)
            for pattern in sources
            for source in env.Glob(pattern)
        ],
        Action(command, "$SHAREDCOMSTR"),
    )
