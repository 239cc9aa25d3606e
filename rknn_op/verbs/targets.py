"""`rknn-op targets`."""

from __future__ import annotations

import json

import click

from opkit.runtimes import available
from rknn_op import known_targets


@click.command("targets")
@click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON list, one item for each target."
)
def command(as_json: bool) -> None:
    """List the targets and the minimum version of their runtimes."""
    runtimes = available().values()
    if as_json:
        click.echo(json.dumps(known_targets.entries(runtimes), indent=2))
        return
    click.echo(known_targets.table(runtimes))
    click.echo("\nA product runs on all targets of its family, and on no others.")
