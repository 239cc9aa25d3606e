"""The README of a generated repository."""

from __future__ import annotations

from opkit import target_table
from opkit.emit.template import fill
from opkit.spec import OpSpec


def readme(spec: OpSpec) -> str:
    """Return the text of README.md."""
    return fill(
        "README.md",
        name=spec.name,
        lower=spec.lower,
        target=spec.target_platform,
        targets=target_table.markdown(),
    )
