"""env.TargetHarness(abi) and its like: programs that run the cases elsewhere, or for gdb."""

from __future__ import annotations

from typing import Any

from opkit.build import static_harness
from opkit.build.static_harness import Parts
from opkit.runtimes.rknn.scons.host import GUARDED


def exists(env: Any) -> bool:
    """Whether the tool can be used: always; a missing compiler is named when it is needed."""
    return True


def generate(env: Any) -> None:
    """Add the methods to the environment."""
    env.AddMethod(target_harness, "TargetHarness")
    env.AddMethod(sanitized_harness, "SanitizedHarness")
    env.AddMethod(debugged_harness, "DebuggedHarness")


def target_harness(env: Any, abi_name: str) -> Any:
    """Return the node of `build/check/<abi>/harness`."""
    return static_harness.target_harness(env, abi_name, _parts(env))


def sanitized_harness(env: Any, names: list[str]) -> Any:
    """Return the node of `build/check/<names>/harness`.

    Raises:
        OpkitError: there is neither gcc nor clang.
    """
    return static_harness.sanitized_harness(env, names, _parts(env))


def debugged_harness(env: Any) -> Any:
    """Return the node of `build/check/gdb/harness`."""
    return static_harness.debugged_harness(env, _parts(env))


def _parts(env: Any) -> Parts:
    def kernel(abi_env: Any, folder: str, flags: list[str]) -> list[Any]:
        nodes: list[Any] = abi_env.KernelObjects(folder, CCFLAGS=[*GUARDED, *flags])
        return nodes

    return Parts(
        prefix="",
        entry=f"vx_kernel_{env['OPERATOR'].name}_list",
        kernel=kernel,
        sources=("opkit/runtimes/rknn/host_runtime/*.c",),
    )
