"""The table of targets as plain text."""

from __future__ import annotations

from opkit.platforms import CHIPS, TARGETS


def targets_table() -> str:
    """Return every chip with its family, ABI, and what it must run at least."""
    rows = [
        ("target", "family", "ABI", "must run at least", "where to look that up"),
        *(
            (t.name, t.family or "", t.abi, t.needs, t.look_up)
            for t in map(TARGETS.get, CHIPS)
            if t
        ),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
