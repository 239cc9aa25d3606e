"""Print messages on stderr."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from opkit.errors import OpkitError


def error(problem: object) -> None:
    """Print an error; in color on a terminal."""
    click.echo(f"{click.style('error:', fg='red')} {problem}", err=True)


def warn(warnings: Iterable[object]) -> None:
    """Print warnings, one per line; in color on a terminal."""
    for warning in warnings:
        click.echo(f"{click.style('warning:', fg='yellow')} {warning}", err=True)


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
