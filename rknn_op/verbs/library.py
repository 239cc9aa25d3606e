"""`rknn-op library`."""

from __future__ import annotations

import json

import click

from rknn_op import library


@click.command("library")
@click.option("--json", "style", flag_value="json", help="Print a JSON list, one item each.")
@click.option(
    "--markdown", "style", flag_value="markdown", help="Print the page docs/operators.md."
)
def command(style: str | None) -> None:
    """List the ready operators, for `rknn-op create --library`."""
    if style == "json":
        click.echo(json.dumps(library.entries(), indent=2))
    elif style == "markdown":
        click.echo(library.page(), nl=False)
    else:
        click.echo(library.listing(), nl=False)
