"""env.GuardedLibrary(host_runtime): the operator's library for the cases on this PC."""

from __future__ import annotations

from typing import Any

from SCons.Action import Action

# Each tensor that the kernel opens lies between forbidden pages, instead of all in one block.
GUARDED = ["-DOPKIT_GUARDED"]


def exists(env: Any) -> bool:
    """Whether the tool can be used: always; a missing compiler is named when it is needed."""
    return True


def generate(env: Any) -> None:
    """Add the method to the environment."""
    env.AddMethod(guarded_library, "GuardedLibrary")


def guarded_library(env: Any, host_runtime: Any) -> Any:
    """Return the node of `build/host/lib<operator>.so`.

    It is compiled as the device library is, but knows its lines, and has the host runtime guard
    its tensors. It is never packed.
    """
    operator = env["OPERATOR"]
    folder = "build/host"
    kernel = f"rknn_kernel_{operator.lower}"
    exports = f"generated/{operator.lower}.exports"
    host_env = env.CompilerFor("x64")

    def with_lines(flags: str) -> list[str]:
        return ["-g" if flag in ("-g0", "-s") else flag for flag in host_env[flags]]

    library = host_env.Command(
        f"{folder}/lib{operator.lower}.so",
        host_env.SharedObject(
            f"{folder}/{kernel}.o", f"{kernel}.c", CCFLAGS=[*with_lines("CCFLAGS"), *GUARDED]
        ),
        Action("$SHAREDCOM", "$SHAREDCOMSTR"),
        LINKFLAGS=with_lines("LINKFLAGS"),
        LIBRARIES=[f"-Wl,--version-script={exports}", f"-L{folder}", "-lOpenVX", "-lm"],
    )
    host_env.Depends(library, [host_runtime, exports])
    return library
