"""PPLNN's part of `scons`: libraries, and the runtime for the cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opkit.description.spec import OpSpec
from opkit.runtimes.build import Build
from opkit.runtimes.pplnn.scons import checkout
from opkit.runtimes.pplnn.scons.pplnn_library import harness_parts, host, library
from opkit.runtimes.pplnn.tree_names import SOURCES


def _notes(spec: OpSpec) -> str:
    return (
        f"build/<target>/libpplnn_{spec.lower}.a is the math as PPLNN's kernels call it.\n"
        "The sources in pplnn/src/ become part of ppl.nn, which builds them itself."
    )


def _libraries(env: Any, targets: Mapping[str, str]) -> Sequence[Any]:
    """Return the nodes of the libraries for the targets."""
    return [library(env, target, abi) for target, abi in targets.items()]


BUILD = Build(
    declare=lambda env, request: host(env, "report" in request.commands),
    products=_libraries,
    tools=(checkout,),
    notes=_notes,
    cxx_folders=(SOURCES, "build/opkit/runtimes/pplnn/declarations"),
    harness_parts=harness_parts,
    vendor_executors=checkout.engines,
)
