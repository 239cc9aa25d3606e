"""`rknn-op targets`."""

from __future__ import annotations

import json

import click

from opkit.runtimes import available
from rknn_op import targets


@click.command("targets")
@click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON list, one item for each target."
)
def command(as_json: bool) -> None:
    """List what can be built for, and what it must run."""
    runtimes = available().values()
    if as_json:
        click.echo(json.dumps(targets.entries(runtimes), indent=2))
        return
    click.echo(targets.table(runtimes))
    click.echo("\nWhat is built for a target runs on all of its family, and on no other.")
