"""env.Harness(): the program that runs kernels on this PC, in `build/host/`."""

from __future__ import annotations

from typing import Any

from SCons.Action import Action

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
        harness_env = env.CompilerFor("x64")
        harness_env.Replace(CCFLAGS=COMPILE, LINKFLAGS="-fno-sanitize=undefined")
        harness_env = harness_env.UserCache()
        env["HARNESS"] += harness_env.Command(
            PROGRAM,
            [
                harness_env.SharedObject(f"{PROGRAM}-{source.name[:-2]}.o", source)
                for source in env.Glob("opkit/check/harness/*.c")
            ],
            Action("$PROGRAMCOM", "$SHAREDCOMSTR"),
            LIBRARIES=["-ldl"],
        )
    return env["HARNESS"]
