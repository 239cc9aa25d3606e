"""Progress, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

import click

Item = TypeVar("Item")


def shown(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Yield items, with a bar on stderr if that is a terminal and there are several."""
    if total == 1 or not sys.stderr.isatty():
        yield from items
        return
    with click.progressbar(items, total, label, file=sys.stderr) as bar:
        yield from bar
