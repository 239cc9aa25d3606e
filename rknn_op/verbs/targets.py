"""`rknn-op targets`."""

from __future__ import annotations

import click

from opkit.runtimes import available
from rknn_op import targets


@click.command("targets")
def command() -> None:
    """List what can be built for, and what each chip must run at least."""
    click.echo(targets.table(available().values()))
    click.echo("\nWhat is built for a chip runs on every chip of its family, and on no other.")
