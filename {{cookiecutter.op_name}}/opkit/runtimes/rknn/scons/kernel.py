"""env.KernelObjects(folder): compiles the operator's own sources."""

from __future__ import annotations

from typing import Any

from opkit.runtimes.rknn.sources import kernel_sources
from opkit.toolchains.warnings import ERRORS, WARNINGS


def exists(env: Any) -> bool:
    """Whether the tool can be used: always; a missing compiler is named when it is needed."""
    return True


def generate(env: Any) -> None:
    """Add the method to the environment."""
    env.AddMethod(kernel_objects, "KernelObjects")


def kernel_objects(env: Any, folder: str, **flags: list[str]) -> list[Any]:
    """Return the nodes of the operator's objects.

    Args:
        env: the environment of an ABI's compiler, env.CompilerFor(abi).
        folder: where the objects are made.
        flags: appended to construction variables for these objects, such as CCFLAGS.
    """
    operator = env["OPERATOR"]
    kernel_env = env.Clone()
    kernel_env.Append(**flags)
    kernel_env.Append(
        CCFLAGS=[*WARNINGS, *ERRORS, *operator.cflags],
        CFLAGS=env["C_ERRORS"],
        CPPPATH=[f"#{folder.path}" for folder in operator.include],
    )
    return [
        node
        for source in kernel_sources(operator)
        for node in kernel_env.SharedObject(f"{folder}/{source}.o", source)
    ]
