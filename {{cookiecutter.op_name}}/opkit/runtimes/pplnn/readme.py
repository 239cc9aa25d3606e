"""This runtime's part of the README of a generated repository."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.runtimes.interface import Readme


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on the sources and the ways into ppl.nn."""
    return Readme(about=f"A custom operator for PPLNN ({spec.name}).")
