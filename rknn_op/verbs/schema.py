"""`rknn-op schema`."""

from __future__ import annotations

import click

from rknn_op.creation.description_schema import description_schema, to_text


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the description, for editors.

    A repository has it in generated/op.schema.json, to which the first line of its op.yml refers.
    """
    click.echo(to_text(description_schema()))
