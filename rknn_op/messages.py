"""Print messages on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import click

from opkit.errors import OpkitError
from opkit.terminal import message


def error(problem: object) -> None:
    """Print an error."""
    click.echo(message("error", problem, sys.stderr), err=True)


def warn(warnings: Iterable[object]) -> None:
    """Print warnings."""
    for warning in warnings:
        click.echo(message("warning", warning, sys.stderr), err=True)


def end_with(problems: Sequence[object], total: int, done: str) -> None:
    """Print the errors of some of many repositories, if there are any.

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
