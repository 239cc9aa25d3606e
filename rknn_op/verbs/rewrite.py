"""`rknn-op rewrite`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit.common.text import printable
from rknn_op import messages
from rknn_op.models.model_graph import node_path
from rknn_op.runtimes.models import toolkit_names
from rknn_op.verbs import values


@click.command("rewrite")
@click.argument("model", type=click.Path(path_type=Path), metavar="MODEL")
@values.path_option("-o", "--output", required=True, metavar="OUT.onnx", help="The file to write.")
@click.option(
    "--op", "op_types", multiple=True, metavar="TYPE", help="An operator; may be repeated."
)
@click.option("--node", "nodes", multiple=True, metavar="NAME", help="A node; may be repeated.")
@click.option(
    "--all",
    "all_",
    is_flag=True,
    help="The operators of the runtime's CPU, too. Default: those that are missing on the chip.",
)
@values.inputs
@values.max_error
@click.option(
    "--target",
    metavar="CHIP",
    shell_complete=values.targets,
    help="The chip, whose operators the new model has; default: rk3588.",
)
@values.path_option(
    "--toolkit",
    metavar="PYTHON",
    help=f"Convert and simulate each form and the model with {toolkit_names()}, in the Python that "
    "has it; if it breaks a form, the next one is tried.",
)
@values.as_is
@click.pass_context
def command(
    ctx: click.Context,
    model: Path,
    output: Path,
    op_types: tuple[str, ...],
    nodes: tuple[str, ...],
    all_: bool,
    inputs: Path | None,
    max_error: float | None,
    target: str | None,
    toolkit: Path | None,
    as_is: bool,
) -> None:
    """Write missing operators of a model with the chip's own.

    MODEL is an .onnx file, which is cleaned first, see `rknn-op scan`. Each form is compared with
    its node in onnxruntime, in float32 and with all tensors in float16, and then the outputs of
    both models. The exit status is 1 if a node is left, or an output differs: then nothing is
    written.
    """
    # Only here: they import numpy, and --help does without it.
    from rknn_op.models.differences import table
    from rknn_op.models.rewriting import rewriting
    from rknn_op.models.rewriting.rewrite_file import Options, rewrite_file

    options = Options(op_types, nodes, all_, inputs, max_error, target, toolkit, as_is)
    outcome = rewrite_file(model, output, options)
    messages.warn(outcome.notes)
    click.echo(rewriting.table(outcome.rewriting.nodes))
    if outcome.left:
        click.echo("\nLeft:")
        for node, reason in outcome.left:
            click.echo(f"{node_path(node.name, 100)}: {node.op_type}: {reason}")
    click.echo(f"\nThe original and the rewritten model, in float32:\n{table(outcome.differences)}")
    click.echo(f"\nWith the tensors of the forms in float16:\n{table(outcome.in_half)}")
    if outcome.simulated:
        click.echo(f"\n{outcome.toolkit}:\n{table(outcome.simulated)}")
    if outcome.problem:
        messages.error(outcome.problem)
        ctx.exit(1)
    for file in outcome.files:
        click.echo(f"wrote {printable(str(file))}", err=True)
    ctx.exit(1 if outcome.left else 0)
