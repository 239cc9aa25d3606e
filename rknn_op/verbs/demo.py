"""`rknn-op demo`."""

from __future__ import annotations

from pathlib import Path

import click

from rknn_op.creation import demo


@click.command("demo", epilog=f"Examples: {', '.join(demo.examples())}.")
@click.argument(
    "name", type=click.Choice(demo.examples()), default="deform_conv", metavar="[EXAMPLE]"
)
@click.option(
    "-p",
    "--path",
    type=click.Path(path_type=Path),
    help="The folder to make; default: the example's name.",
)
def command(name: str, path: Path | None) -> None:
    """Make, build, pack and check the operator of an example."""
    demo.run(name, path or Path(name))
