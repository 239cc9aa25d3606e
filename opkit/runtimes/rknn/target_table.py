"""The chips as a table, for help texts."""

from __future__ import annotations

from opkit.runtimes.rknn.chips import CHIPS, TARGETS
from opkit.text import aligned

HEADINGS = ("target", "family", "ABI", "minimum version", "where to look it up")


def rows() -> list[tuple[str, ...]]:
    """Return the rows of the table."""
    targets = [TARGETS[name] for name in CHIPS]
    return [(t.name, t.family, t.abi, t.needs, t.look_up) for t in targets]


def plain() -> str:
    """Return the table with aligned columns, and below it where to look up versions."""
    shown = [row[:-1] for row in (HEADINGS, *rows())]
    places = dict.fromkeys((row[-2].rpartition(" ")[0], row[-1]) for row in rows())
    return "\n".join([aligned(shown), *(f"{what}:\n  {place}" for what, place in places)])
