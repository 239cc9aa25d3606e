"""env.Harness(): the program that runs kernels on this PC, in `build/host/`.

A runtime that guards memory has GUARDED_MEMORY among the sources of its library for this PC and of
its static harnesses; a kernel in a static harness is compiled with GUARDED_MALLOC.
"""

from __future__ import annotations

from typing import Any

from opkit.build.host_link import linked

SOURCES = "opkit/check/harness/*.c"
GUARDED_MEMORY = "opkit/check/harness/memory/*.c"
GUARDED_MALLOC = ["-include", "opkit/check/harness/memory/guarded_malloc.h"]
PROGRAM = "build/host/harness"
COMPILE = "-O2 -g -fno-sanitize=undefined".split()


def exists(env: Any) -> bool:
    """Whether the tool can be used: always; a missing compiler is named when it is needed."""
    return True


def generate(env: Any) -> None:
    """Add the method to the environment."""
    env.AddMethod(harness, "Harness")
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
