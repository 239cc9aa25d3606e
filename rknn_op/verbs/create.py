"""`rknn-op create`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import click

from opkit import workspace
from opkit.creation.license import NONE
from opkit.creation.next_steps import next_steps
from opkit.errors import OpkitError
from rknn_op import creation, library, messages, progress
from rknn_op import workspace as making
from rknn_op.creation import Choices, Created, Plan
from rknn_op.selection import Selection


@click.command("create")
@click.option(
    "-c",
    "--config",
    "config",
    multiple=True,
    type=click.Path(path_type=Path),
    help="An operator description: a YAML file. Several: -c A.yml B.yml ...",
)
@click.argument("others", nargs=-1, type=click.Path(path_type=Path), metavar="[YAML]...")
@click.option(
    "--from",
    "model",
    type=click.Path(path_type=Path),
    metavar="MODEL",
    help="Instead of a description: a model (.onnx, or a frozen graph .pb) with one of --op, "
    "--node and --all, and -p.",
)
@click.option(
    "--op",
    "op_type",
    metavar="TYPE",
    help="An operator for all nodes of a type; domain:TYPE if two domains have it.",
)
@click.option("--node", metavar="NAME", help="An operator for a single node.")
@click.option(
    "--all",
    "is_all",
    is_flag=True,
    help="An operator for each type that the target lacks, in DIR/NAME.",
)
@click.option(
    "--inputs",
    type=click.Path(path_type=Path),
    metavar="FILE.npz",
    help="The model's inputs by name, for the recorded cases; default: random ones.",
)
@click.option(
    "--library",
    "library_name",
    metavar="NAME",
    help="Instead of a description: a ready operator; `rknn-op library` lists them.",
)
@click.option(
    "-p",
    "--path",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder to make; for several descriptions and --all, the folder of all repositories. "
    "Default for descriptions and --library: the operator's name, in the current folder.",
)
@click.option(
    "--workspace",
    "workspace_",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Instead of -p: a workspace, made if DIR is new; each operator is in DIR/NAME.",
)
@click.option(
    "--runtime",
    "runtimes",
    multiple=True,
    help="A runtime, instead of the description's; may be repeated.",
    metavar="NAME",
)
@click.option(
    "--target",
    default="",
    metavar="NAME",
    help="The target, instead of the description's; with --from, by default rk3588 for .onnx, "
    "rk1808 for .pb.",
)
@click.option(
    "--license",
    default=NONE,
    show_default=True,
    metavar="NAME",
    help="The SPDX name of the new repository's license, such as MIT.",
)
@click.option(
    "--author",
    default="",
    metavar="NAME",
    help="The author in the license; default: the authors of the repository.",
)
@click.option("--dry-run", is_flag=True, help="Check all and print the plan; make nothing.")
def command(
    config: tuple[Path, ...],
    others: tuple[Path, ...],
    model: Path | None,
    op_type: str | None,
    node: str | None,
    is_all: bool,
    inputs: Path | None,
    library_name: str | None,
    path: Path | None,
    workspace_: Path | None,
    runtimes: tuple[str, ...],
    target: str,
    license: str,
    author: str,
    dry_run: bool,
) -> None:
    """Make repositories from descriptions, a model, or the library.

    op.yml has the text of the description, except for changes by the options: parts that the
    chosen runtimes do not support are omitted with a warning. An invalid description does not stop
    the others; all errors are listed at the end.

    --from describes the nodes of a model: with the operator library's math where it has the
    operator, else with a reference by onnx; with the nodes' tensors as cases, recorded in a run of
    the model; and with questions about all that the model does not say. An operator that cannot be
    described stops all others. It requires `pip install 'rknn-op-template[onnx]'`.

    --library copies a ready operator: description, math, reference and cases.
    """
    configs = [*config, *others]
    names = [name for text in runtimes for name in text.split(",")]
    choices = Choices(names, target, license, author)
    selection = Selection(op_type, node, is_all)
    if (bool(configs), model is not None, library_name is not None).count(True) > 1:
        raise click.UsageError("Descriptions (-c), --from and --library exclude each other.")
    if workspace_ and (path or model):
        raise click.UsageError("--workspace needs descriptions or --library, and excludes -p.")
    if workspace_:
        _create_in(workspace_, configs, library_name, choices, dry_run)
        return
    if model:
        _create_from(model, selection, path, choices, inputs, dry_run)
        return
    if selection != Selection() or inputs:
        raise click.UsageError("--op, --node, --all and --inputs need --from MODEL.")
    if not configs and library_name is None:
        raise click.UsageError("Missing option '-c' / '--config', '--from' or '--library'.")
    if len(configs) > 1:
        _create_all(configs, path or Path(), choices, dry_run)
        return
    if library_name is not None:
        _create(library.plan(library_name, path, choices), dry_run, math_is_done=True)
    else:
        _create(creation.plan(configs[0], path, choices=choices), dry_run)


def _create_in(
    folder: Path,
    configs: Sequence[Path],
    library_name: str | None,
    choices: Choices,
    dry_run: bool,
) -> None:
    """Make operators in a workspace; make the workspace if its folder does not exist."""
    if library_name is not None:
        plans = [library.plan(library_name, folder / library_name, choices)]
    elif configs:
        plans = [creation.plan(config, None, folder, choices) for config in configs]
    else:
        raise click.UsageError("--workspace needs descriptions (-c) or --library.")
    if not (folder / workspace.FILE).is_file() and not dry_run:
        making.init(folder)
    if library_name is not None or len(configs) == 1:
        _create(plans[0], dry_run, math_is_done=library_name is not None)
    else:
        _create_all(configs, folder, choices, dry_run)


def _create(planned: Plan, dry_run: bool, math_is_done: bool = False) -> None:
    """Make a repository and print the next steps; in a dry run, print its files."""
    messages.warn(planned.warnings)
    if dry_run:
        click.echo(f"{planned.folder}: {planned.spec.name}, for {', '.join(planned.spec.runtimes)}")
        for owner, files in creation.rehearse(planned).items():
            words = f"{owner}: {' '.join(files)}"
            click.echo(
                textwrap.fill(
                    words,
                    width=78,
                    initial_indent="  ",
                    subsequent_indent="      ",
                    break_on_hyphens=False,
                )
            )
        return
    creation.create(planned)
    steps = next_steps(
        planned.spec,
        planned.folder.absolute(),
        math_is_done=math_is_done,
        workspace=workspace.of_member(planned.folder),
    )
    click.echo(steps, nl=False)


def _create_from(
    model: Path,
    selection: Selection,
    path: Path | None,
    choices: Choices,
    inputs: Path | None,
    dry_run: bool,
) -> None:
    """Make the repositories for operators of a model; print their contents."""
    if selection.count != 1:
        raise click.UsageError("--from needs exactly one of --op TYPE, --node NAME and --all.")
    if path is None:
        raise click.UsageError("--from needs -p DIR.")
    from rknn_op import from_model  # only here: it imports numpy

    try:
        plans = from_model.plans(model, selection, path, choices, inputs)
    except from_model.InvalidOperators as error:
        messages.end_with(error.problems, error.total, "made")
        return
    for each in plans.planned:
        messages.warn(each.plan.warnings)
        (creation.rehearse if dry_run else creation.create)(each.plan)
    click.echo(from_model.report(plans, is_made=not dry_run), nl=False)


def _create_all(configs: Sequence[Path], parent: Path, choices: Choices, dry_run: bool) -> None:
    """Make the repositories; print their paths, then the errors of the others."""
    results = creation.create_all(configs, parent, choices, dry_run)
    done = [*progress.track(results, len(configs), "creating")]
    problems = [result for result in done if isinstance(result, OpkitError)]
    created = [result for result in done if isinstance(result, Created)]
    messages.warn(warning for each in created for warning in each.warnings)
    click.echo("".join(f"{each.folder}\n" for each in created), nl=False)
    messages.end_with(problems, len(configs), "made")
