"""Messages and progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import click

from opkit.common.errors import OpkitError
from opkit.common.terminal import message


def error(problem: object) -> None:
    """Print an error."""
    click.echo(message("error", problem, sys.stderr), err=True)


def warn(warnings: Iterable[object]) -> None:
    """Print warnings."""
    for warning in warnings:
        click.echo(message("warning", warning, sys.stderr), err=True)


def end_with(problems: Sequence[object], total: int, done: str) -> None:
    """Print the errors of repositories, and raise a summary.

    Args:
        problems: the errors.
        total: the number of all repositories.
        done: the action that failed, as a participle, such as `made`.

    Raises:
        OpkitError: there are problems.
    """
    for problem in problems:
        error(problem)
    if problems:
        raise OpkitError(f"{len(problems)} of {total} repositories were not {done}")


Item = TypeVar("Item")
_CLEAR = "\r\033[K"


def track(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Yield items, with a progress bar for several items on a terminal's stderr."""
    if total == 1 or not sys.stderr.isatty():
        yield from items
        return
    with click.progressbar(items, total, label, file=sys.stderr) as bar:
        yield from bar


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
