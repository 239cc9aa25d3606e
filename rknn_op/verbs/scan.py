"""`rknn-op scan`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from opkit.errors import OpkitError
from rknn_op import messages
from rknn_op.models.scanning import reading
from rknn_op.models.scanning.listing import FORMATS, as_json
from rknn_op.verbs import values


@click.command("scan")
@click.argument("model", type=click.Path(path_type=Path), metavar="MODEL")
@click.option(
    "--target",
    metavar="CHIP",
    shell_complete=values.TARGETS,
    help="The chip; by default rk3588 for .onnx, rk1808 for .pb. `rknn-op targets` lists all.",
)
@click.option("--json", "is_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--format",
    "format_",
    type=click.Choice([*FORMATS]),
    default="text",
    show_default=True,
    help="For people, or for annotations on GitHub.",
)
@click.option(
    "--toolkit",
    type=click.Path(path_type=Path),
    metavar="PYTHON",
    help="Ask RKNN-Toolkit2 too, in the Python that has it: build the model, and show the "
    "differences from the lists.",
)
@click.pass_context
def command(
    ctx: click.Context,
    model: Path,
    target: str | None,
    is_json: bool,
    format_: str,
    toolkit: Path | None,
) -> None:
    """Show the operators of a model that a chip lacks.

    MODEL is an .onnx file, or a frozen graph of TensorFlow (.pb) for the chips of RKNN-Toolkit 1.x.
    The exit status is 0 if nothing is missing, 1 if something is, 2 if the model cannot be read.
    """
    try:
        result = reading.scan_file(model, target, toolkit)
    except OpkitError as error:
        messages.error(error)
        ctx.exit(2)
    if is_json:
        click.echo(json.dumps(as_json(result), indent=2))
    else:
        click.echo(FORMATS[format_](result), nl=False)
    ctx.exit(1 if result.missing else 0)
