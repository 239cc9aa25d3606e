"""kernel_objects(env, folder): compiles the operator's own sources."""

from __future__ import annotations

from typing import Any

from opkit.build import kernel_objects as objects
from opkit.runtimes.rknn.sources import kernel_sources


def kernel_objects(env: Any, folder: str, **flags: list[str]) -> list[Any]:
    """Return the nodes of the operator's objects.

    Args:
        env: the environment of an ABI's compiler, compiler_for(env, abi).
        folder: where the objects are made.
        flags: appended to construction variables for these objects, such as CCFLAGS.
    """
    return objects.kernel_objects(env, kernel_sources(env["OPERATOR"]), folder, **flags)
