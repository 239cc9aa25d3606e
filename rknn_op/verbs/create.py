"""`rknn-op create`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit.files.next_steps import next_steps
from rknn_op import repositories


@click.command("create")
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    required=True,
    help="The operator description: a YAML file.",
)
@click.option(
    "-p",
    "--path",
    type=click.Path(path_type=Path),
    help="The folder to make; default: the operator's name.",
)
def command(config: Path, path: Path | None) -> None:
    """Make operator repositories from descriptions."""
    folder = path or Path(repositories.check_description(config).name)
    spec = repositories.create(config, folder)
    click.echo(next_steps(spec, folder.absolute()), nl=False)
