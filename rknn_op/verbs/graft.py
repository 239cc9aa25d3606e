"""`rknn-op graft`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit.common.text import printable
from rknn_op import messages
from rknn_op.models.model_graph import plain
from rknn_op.runtimes.models import toolkit_names, toolkits
from rknn_op.verbs import values
from rknn_op.verbs.common import more_repositories, repositories


@click.command("graft")
@click.argument("model", type=click.Path(path_type=Path), metavar="MODEL")
@repositories
@more_repositories
@values.path_option("-o", "--output", required=True, metavar="OUT.onnx", help="The file to write.")
@values.inputs
@values.max_error
@click.option(
    "--target",
    metavar="CHIP",
    shell_complete=values.targets,
    help="The chip, which decides on the runtime of the repositories and on the conversion.",
)
@values.path_option(
    "--toolkit",
    metavar="PYTHON",
    help=f"Convert and simulate with {toolkit_names()} too, in the Python that has it; write the "
    f"package, OUT{' or OUT'.join(each.suffix for each in toolkits())}.",
)
@values.as_is
@click.option(
    "--rewrite",
    is_flag=True,
    help="Write missing operators with those of the chip first, as `rknn-op rewrite` does; the "
    "repositories are for the nodes that are left.",
)
@click.option(
    "--quantize",
    is_flag=True,
    help="Convert to int8 with the samples of --dataset; the package is the int8 model. Compare it "
    "and the float16 model with MODEL.",
)
@values.path_option(
    "--dataset",
    metavar="FILE|FOLDER",
    help="The samples: a text file with the .npy files of a sample's inputs in each line, or a "
    "folder of .npz files, or of .npy files for a model with one input.",
)
@click.option(
    "--algorithm",
    type=click.Choice([name for each in toolkits() for name in each.algorithms]),
    help="The toolkit's algorithm of the calibration. Default: normal.",
)
@click.option(
    "--hybrid",
    multiple=True,
    metavar="NODE",
    help="A node that stays float16 in the int8 model, by its name or output; may be repeated.",
)
@click.option(
    "--metric",
    metavar="FILE.py:FUNCTION",
    help="Your own function(outputs, inputs, index) -> number, for the outputs of MODEL, float16 "
    "and int8 on each sample.",
)
@click.pass_context
def command(
    ctx: click.Context,
    model: Path,
    paths: tuple[Path, ...],
    others: tuple[Path, ...],
    output: Path,
    inputs: Path | None,
    max_error: float | None,
    target: str | None,
    toolkit: Path | None,
    as_is: bool,
    rewrite: bool,
    quantize: bool,
    dataset: Path | None,
    algorithm: str | None,
    hybrid: tuple[str, ...],
    metric: str | None,
) -> None:
    """Make nodes of a model those of operator repositories.

    MODEL is an .onnx file, which is cleaned first, see `rknn-op scan`. Its nodes of each
    repository's operator become the nodes that the converter wants. The new model, with the
    repositories' references in place of these nodes, must have the outputs of MODEL in onnxruntime;
    else the exit status is 1, and nothing is written.
    """
    # Only here: they import numpy, and --help does without it.

    from rknn_op.models.differences import table
    from rknn_op.models.grafting.graft_file import Options, graft_file
    from rknn_op.models.grafting.node_proof import node_table
    from rknn_op.models.grafting.quantized import Quantization, tables
    from rknn_op.models.rewriting import rewriting

    quantization = None
    if quantize:
        if not (dataset and toolkit):
            raise click.UsageError("--quantize requires --dataset FILE|FOLDER and --toolkit PYTHON")
        if inputs:
            raise click.UsageError("--inputs: not with --quantize, which compares on --dataset")
        algorithm = algorithm or next(each.algorithms[0] for each in toolkits())
        quantization = Quantization(dataset, algorithm, hybrid, metric or "")
    elif dataset or algorithm or hybrid or metric:
        raise click.UsageError("--dataset, --algorithm, --hybrid and --metric require --quantize")
    options = Options(inputs, max_error, toolkit, target, as_is, rewrite, quantization)
    outcome = graft_file(model, [*paths, *others] or [Path()], output, options)
    messages.warn(outcome.warnings)
    if outcome.rewritten:
        click.echo(f"{rewriting.table(outcome.rewritten)}\n")
    for node in outcome.graft.nodes:
        name, root = plain(node.node.name), node.custom.operator.root.name
        more = f", with {len(node.added)} more inputs" if node.added else ""
        more = ", as it is" if node.custom.form.keeps_nodes else more
        click.echo(f"{name}: {node.message.op_type} of {root}{more}")
    proof = outcome.proof
    if proof.differences:
        click.echo(f"\nThe original model and the references:\n{table(proof.differences)}")
    else:
        click.echo(f"\noutputs are not compared: {proof.not_compared}")
    if nodes := node_table(proof.nodes, proof.effects):
        source = "reference" if proof.not_compared else "original model"
        click.echo(f"\nEach node on the tensors of the {source}:\n{nodes}")
    if outcome.simulation:
        simulation = outcome.simulation
        click.echo(f"\n{simulation.toolkit} for {simulation.target}:")
        click.echo(simulation.skipped or table(simulation.differences))
    if outcome.quantized:
        count = outcome.quantized.samples
        click.echo(f"\nint8, {count} sample{'s'[: count != 1]} of {printable(str(dataset))}:")
        for text in tables(outcome.quantized):
            click.echo(text)
    if outcome.problem:
        messages.error(outcome.problem)
        ctx.exit(1)
    for file in outcome.files:
        click.echo(f"wrote {printable(str(file))}", err=True)
