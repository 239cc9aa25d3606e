"""`rknn-op targets`."""

from __future__ import annotations

import json

import click

from opkit.runtimes import available
from rknn_op import targets


@click.command("targets")
@click.option("--json", "as_json", is_flag=True, help="Print them for a program.")
def command(as_json: bool) -> None:
    """List what can be built for, and what each chip must run at least."""
    runtimes = available().values()
    if as_json:
        click.echo(json.dumps(targets.entries(runtimes), indent=2))
        return
    click.echo(targets.table(runtimes))
    click.echo("\nWhat is built for a chip runs on every chip of its family, and on no other.")
