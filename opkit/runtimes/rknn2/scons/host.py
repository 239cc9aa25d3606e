"""The host runtime and the plugin for the operator's cases, on this PC and in static harnesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opkit.build.compile_environment import compiler_for
from opkit.build.harness import GUARDED, Parts, harness, runtime_library
from opkit.build.libraries import Phase, instrumented, profiled_objects
from opkit.runtimes.rknn2.scons.plugin import FOLDER, RUNTIME, linked_plugin, objects
from opkit.runtimes.rknn2.settings import NAME
from opkit.runtimes.rknn2.sources import operator_sources, plugin_sources

HOST = f"{FOLDER}/host"
HOST_RUNTIME = f"{RUNTIME}/host_runtime/*.c"
INCLUDES = (f"#{RUNTIME}/include",)
PROFILED = f"{HOST}/profiled"
CONVERSION = Phase(
    "conversion",
    '"include/opkit/runtimes/rknn2/tensors.h"',
    ("opkit_read_tensor", "opkit_write_tensor"),
)


def host(env: Any, reports: bool) -> list[Any]:
    """Return the nodes that the cases need besides the plugin for this PC.

    In `build/rknn2/host/` they are the host runtime, librknnrt.so, and an instrumented plugin.

    Args:
        env: the environment.
        reports: whether a report follows, which needs the profiled plugin.
    """
    librknnrt = runtime_library(env, f"{HOST}/librknnrt.so", HOST_RUNTIME, INCLUDES)
    host_env = instrumented(compiler_for(env, "x64"))
    library = linked_plugin(host_env, HOST, _kernel(host_env, HOST), librknnrt)
    profiled = [_profiled_plugin(env, librknnrt)] if reports else []
    return [harness(env), librknnrt, library, *profiled]


def _profiled_plugin(env: Any, librknnrt: Any) -> Any:
    """Return the node of a plugin like the delivered one, with a profile."""
    host_env = compiler_for(env, "x64")
    operator = env["OPERATOR"]
    kernel, *others = operator_sources(operator)
    compiled = profiled_objects(
        host_env,
        PROFILED,
        [CONVERSION],
        lambda flags: objects(host_env, [kernel], PROFILED, CCFLAGS=flags),
    )
    compiled += objects(host_env, [*others, *plugin_sources(operator)], PROFILED)
    return linked_plugin(host_env, PROFILED, compiled, librknnrt)


def _kernel(env: Any, folder: str, flags: Sequence[str] = ()) -> list[Any]:
    operator = env["OPERATOR"]
    sources = [*operator_sources(operator), *plugin_sources(operator)]
    return objects(env, sources, folder, CCFLAGS=[*GUARDED, *flags])


HARNESS_PARTS = Parts(f"{NAME}-", "get_rknn_custom_op", _kernel, (HOST_RUNTIME,), INCLUDES)
