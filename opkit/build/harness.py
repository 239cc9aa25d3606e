"""harness(env): the program that runs kernels on this PC, in `build/host/`.

runtime_library() links a runtime's part of the harness for this PC, with GUARDED_MEMORY.
build/static_harness.py makes the programs with all parts in one.
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
# Every call of a kernel gets new memory for its tensors, instead of that of the last call.
GUARDED = ["-DOPKIT_GUARDED"]
PROGRAM = "build/host/harness"
COMPILE = "-O2 -g -fno-sanitize=undefined".split()
# By default zig checks for undefined behavior, and compiles a library for it.
RUNTIME_COMPILE = "-O2 -g -fPIC -fno-omit-frame-pointer -fno-sanitize=undefined".split()
RUNTIME_LINK = "-fno-sanitize=undefined -Wl,-z,defs".split()


def harness(env: Any) -> Any:
    """Return the node of the harness, which loads a runtime's library and a kernel's."""
    env.SetDefault(HARNESS=[])  # declared once, for all runtimes
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
    """Return the node of a runtime's part of the harness, with guarded memory.

    Args:
        env: the environment.
        target: the library; its file name is its soname, which kernels link to.
        sources: the pattern of its C sources.
        includes: additional folders of headers: the vendor's interface.
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
        LIBRARIES=[f"-Wl,-soname,{name}", "-lpthread"],
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
    """Return the node of a program or a library for this PC, the same for all operators.

    Args:
        env: the environment.
        command: the link command: `$PROGRAMCOM` or `$SHAREDCOM`.
        target: the file.
        sources: the patterns of its C sources.
        objects: the prefix of the paths of the object files.
        **variables: the construction variables that differ from those of a device library.
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
