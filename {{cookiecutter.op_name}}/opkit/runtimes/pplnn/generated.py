"""The files that follow from op.yml, at every build."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.runtimes.pplnn.sources import sources


def generated_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the sources for ppl.nn, and of what the harness calls."""
    return sources(spec)
