"""Progress of long commands, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
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


_CLEAR = "\r\033[K"


@contextmanager
def step(text: str) -> Iterator[None]:
    """Show the step of a command on a terminal's stderr, and erase it at the end."""
    if not sys.stderr.isatty():
        yield
        return
    print(f"{text} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print(_CLEAR, end="", file=sys.stderr, flush=True)
