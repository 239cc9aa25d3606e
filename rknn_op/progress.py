"""Progress bars, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

import click

Item = TypeVar("Item")


def track(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Yield items, with a progress bar for several items on a terminal's stderr."""
    if total == 1 or not sys.stderr.isatty():
        yield from items
        return
    with click.progressbar(items, total, label, file=sys.stderr) as bar:
        yield from bar
