"""`rknn-op doctor`."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from rknn_op.upkeep.health import Finding, findings

_COLORS = {"ok": "green", "optional": "yellow", "missing": "red"}
_WIDTH = 80


@click.command("doctor")
@click.option(
    "-p",
    "--path",
    default=Path(),
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="An operator repository or a workspace to check, too; default: the current folder.",
)
@click.option(
    "--toolkit",
    type=click.Path(path_type=Path),
    metavar="PYTHON",
    help="The Python with RKNN-Toolkit2; default: that of .venv-rknn2 in DIR.",
)
@click.option("--json", "is_json", is_flag=True, help="Print a JSON list, one item each.")
@click.pass_context
def command(ctx: click.Context, path: Path, toolkit: Path | None, is_json: bool) -> None:
    """Show the tools on this PC, and how to get missing ones.

    The exit status is 1 if a required part is missing; some commands do without optional ones.
    Changes nothing.
    """
    found = [*findings(toolkit, path)]
    if is_json:
        click.echo(json.dumps([asdict(each) for each in found], indent=2))
    else:
        for line in _table(found):
            click.echo(line)
    ctx.exit(int(any(each.state == "missing" for each in found)))


def _table(found: Sequence[Finding]) -> Iterator[str]:
    """Yield the lines of a table, with the remedy below each part that is absent."""
    width = max(len(each.part) for each in found)
    for each in found:
        state = click.style(each.state.ljust(8), fg=_COLORS[each.state])
        yield f"{each.part.ljust(width)}  {state}  {each.found or 'not found'}"
        if each.action:
            indent = " " * (width + 12)
            yield textwrap.fill(
                each.action,
                _WIDTH,
                initial_indent=indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
