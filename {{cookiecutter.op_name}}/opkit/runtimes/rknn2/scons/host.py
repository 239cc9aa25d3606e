"""What runs the operator's cases: on this PC, and elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opkit.build import static_harness
from opkit.build.harness import GUARDED_MEMORY
from opkit.build.host_link import linked
from opkit.build.static_harness import Parts
from opkit.runtimes.rknn2.scons.plugin import FOLDER, ROOM, objects
from opkit.runtimes.rknn2.settings import NAME
from opkit.runtimes.rknn2.sources import operator_sources, plugin_sources

HOST_RUNTIME = f"{ROOM}/host_runtime/*.c"
# zig would check for undefined behavior by default, and compile a library for that.
COMPILE = "-O2 -g -fno-omit-frame-pointer -fno-sanitize=undefined".split()
LINK = "-fno-sanitize=undefined -Wl,-z,defs".split()


def host_runtime(env: Any) -> Any:
    """Return the node of the stand-in for librknnrt.so, in `build/rknn2/host/`."""
    return linked(
        env,
        "$SHAREDCOM",
        target=f"{FOLDER}/host/librknnrt.so",
        sources=[HOST_RUNTIME, GUARDED_MEMORY],
        objects=f"{FOLDER}/host/",
        CCFLAGS=COMPILE,
        LINKFLAGS=LINK,
        LIBRARIES=["-Wl,-soname,librknnrt.so"],
    )


def target_harness(env: Any, abi_name: str) -> Any:
    """Return the node of `build/check/rknn2-<abi>/harness`."""
    return static_harness.target_harness(env, abi_name, _PARTS)


def sanitized_harness(env: Any, names: Sequence[str]) -> Any:
    """Return the node of `build/check/rknn2-<names>/harness`.

    Raises:
        OpkitError: there is neither gcc nor clang.
    """
    return static_harness.sanitized_harness(env, names, _PARTS)


def debugged_harness(env: Any) -> Any:
    """Return the node of `build/check/gdb/harness`."""
    return static_harness.debugged_harness(env, _PARTS)


def _kernel(env: Any, folder: str, flags: list[str]) -> list[Any]:
    operator = env["OPERATOR"]
    sources = [*operator_sources(operator), *plugin_sources(operator)]
    return objects(env, sources, folder, CCFLAGS=flags)


_PARTS = Parts(f"{NAME}-", "get_rknn_custom_op", _kernel, (HOST_RUNTIME,))
