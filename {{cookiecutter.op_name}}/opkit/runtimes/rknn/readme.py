"""The README of a generated repository."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.runtimes.rknn import target_table
from opkit.text import fill


def readme(spec: OpSpec) -> str:
    """Return the text of README.md."""
    return fill(
        "README.md",
        name=spec.name,
        lower=spec.lower,
        target=spec.target_platform,
        targets=target_table.markdown(),
    )
