"""The objects of an operator's own C and C++ sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opkit.toolchains.warnings import ERRORS, WARNINGS


def kernel_objects(env: Any, sources: Sequence[str], folder: str, **flags: list[str]) -> list[Any]:
    """Return the nodes of the objects, compiled with the flags and folders of op.yml.

    Args:
        env: the environment of an ABI's compiler, compiler_for(env, abi).
        sources: the paths of the sources.
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
        for source in sources
        for node in kernel_env.SharedObject(f"{folder}/{source}.o", source)
    ]
