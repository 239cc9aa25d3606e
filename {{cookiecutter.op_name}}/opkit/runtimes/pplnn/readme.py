"""This runtime's part of the README of a generated repository."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.runtimes.interface import Readme
from opkit.runtimes.pplnn import overlay

_COMMANDS = """\
| `scons pplnn-apply root=PPLNN` | lays the operator over the checkout of ppl.nn in that folder |
"""


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on the sources and the ways into ppl.nn."""
    return Readme(
        about=f"A custom operator for PPLNN ({spec.name}).",
        commands=_COMMANDS,
        sections=overlay.readme(spec),
    )
