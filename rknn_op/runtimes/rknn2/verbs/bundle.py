"""`rknn-op bundle`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit.common.errors import OpkitError
from opkit.runtimes.rknn2.chips import TARGETS
from opkit.runtimes.rknn2.describe import NAME
from rknn_op.runtimes.rknn2.bundles import bundling
from rknn_op.upkeep.chosen_operators import operators, refuse_equal_names, roots, with_runtime
from rknn_op.verbs import values
from rknn_op.verbs.common import (
    SconsCommand,
    jobs_option,
    more_repositories,
    repositories,
    run_scons,
)

_ABIS = list(dict.fromkeys(abi for target in TARGETS.values() for abi in target.abis))


@click.command("bundle", cls=SconsCommand)
@repositories
@more_repositories
@click.option(
    "-t",
    "--target",
    required=True,
    metavar="CHIP",
    shell_complete=values.starting(lambda: TARGETS),
    help="The chip, of RKNN-Toolkit2's targets.",
)
@click.option(
    "--abi",
    "abis",
    type=click.Choice(_ABIS),
    multiple=True,
    help="An ABI of the chip's system; may be repeated. Default: both.",
)
@values.path_option("-o", "--output", required=True, metavar="OUT", help="The folder to make.")
@values.path_option(
    "--model",
    metavar="FILE",
    help="The model: an .rknn file to copy, or, with --toolkit, an .onnx file to convert.",
)
@values.path_option(
    "--toolkit", metavar="PYTHON", help="The Python with RKNN-Toolkit2 that converts the model."
)
@jobs_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    others: tuple[Path, ...],
    target: str,
    abis: tuple[str, ...],
    output: Path,
    model: Path | None,
    toolkit: Path | None,
    jobs: int | None,
) -> None:
    """Make an application with all operators of a model.

    Builds the repositories with `scons`, then makes OUT: one static library with all operators, a
    header to register them in one call, the plugins, an example in C that runs the model, and its
    build. Prints the paths of the files on stdout, all else on stderr. OPTIONS go to scons
    unchanged, for instance toolchain=gnu.
    """
    folders = operators([*paths, *others])
    refuse_equal_names(folders)
    having = with_runtime(folders, NAME)
    if having and roots([*paths, *others]) and len(having) < len(folders):
        left_out = len(folders) - len(having)
        click.echo(f"left out {left_out} of {len(folders)} operators, not for {NAME}", err=True)
        folders = having
    options = ctx.meta["scons"]
    planned = bundling.plan(folders, target.lower(), abis, output, model, toolkit, options)
    runs = run_scons(folders, planned.commands(), jobs, err=True)
    failed = list(dict.fromkeys(str(run.folder) for run in runs if run.status))
    if failed:
        raise OpkitError(f"{output} is not made: {', '.join(failed)} cannot be built")
    for path in bundling.create(planned):
        click.echo(output / path)
