"""The chips as a table, for help texts and READMEs."""

from __future__ import annotations

from opkit.runtimes.rknn.chips import CHIPS, TARGETS
from opkit.text import aligned

_HEADINGS = ("target", "family", "ABI", "minimum version", "where to look it up")


def _rows() -> list[tuple[str, ...]]:
    targets = [TARGETS[name] for name in CHIPS]
    return [(t.name, t.family, t.abi, t.needs, t.look_up) for t in targets]


def plain() -> str:
    """Return the table with aligned columns, and below it where to look up versions."""
    rows = [row[:-1] for row in (_HEADINGS, *_rows())]
    places = dict.fromkeys((row[-2].rpartition(" ")[0], row[-1]) for row in _rows())
    return "\n".join([aligned(rows), *(f"{what}:\n  {place}" for what, place in places)])


def markdown() -> str:
    """Return the table in Markdown."""
    rows = [_HEADINGS, ["---"] * len(_HEADINGS), *_rows()]
    escaped = ([cell.replace("|", r"\|") for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in escaped)
