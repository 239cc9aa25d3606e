"""What is said on stderr."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from opkit.errors import OpkitError


def error(problem: object) -> None:
    """Print what is wrong; on a terminal, in color."""
    click.echo(f"{click.style('error:', fg='red')} {problem}", err=True)


def warn(warnings: Iterable[object]) -> None:
    """Print what may surprise, a line for each; on a terminal, in color."""
    for warning in warnings:
        click.echo(f"{click.style('warning:', fg='yellow')} {warning}", err=True)


def end_with(problems: Sequence[object], total: int, done: str) -> None:
    """Print what is wrong with some of many repositories, if anything is.

    Args:
        problems: the reasons.
        total: how many repositories were named.
        done: what was not done with these, such as `made`.

    Raises:
        OpkitError: there are problems.
    """
    for problem in problems:
        error(problem)
    if problems:
        raise OpkitError(f"{len(problems)} of {total} repositories were not {done}")
