"""The host runtime for the operator's cases, on this PC and in static harnesses."""

from __future__ import annotations

from typing import Any

from opkit.build.harness import runtime_library
from opkit.build.static_harness import Parts
from opkit.runtimes.rknn2.scons.plugin import FOLDER, RUNTIME, objects
from opkit.runtimes.rknn2.settings import NAME
from opkit.runtimes.rknn2.sources import operator_sources, plugin_sources

HOST_RUNTIME = f"{RUNTIME}/host_runtime/*.c"
INCLUDES = (f"#{RUNTIME}/include",)


def host_runtime(env: Any) -> Any:
    """Return the node of the host runtime, librknnrt.so in `build/rknn2/host/`."""
    return runtime_library(env, f"{FOLDER}/host/librknnrt.so", HOST_RUNTIME, INCLUDES)


def _kernel(env: Any, folder: str, flags: list[str]) -> list[Any]:
    operator = env["OPERATOR"]
    sources = [*operator_sources(operator), *plugin_sources(operator)]
    return objects(env, sources, folder, CCFLAGS=flags)


HARNESS_PARTS = Parts(f"{NAME}-", "get_rknn_custom_op", _kernel, (HOST_RUNTIME,), INCLUDES)
