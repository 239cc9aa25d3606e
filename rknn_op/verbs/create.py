"""`rknn-op create`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opkit import workspace_members
from opkit.common.errors import OpkitError
from opkit.version import VERSION
from rknn_op import all_or_nothing, commits, messages
from rknn_op.creation import new_repository
from rknn_op.creation.choices import (
    DEFAULT_EXTRAS,
    NO_LICENSE,
    Choices,
    ask_choices,
    ask_name,
    check_name,
    check_runtimes,
    with_defaults,
)
from rknn_op.creation.description_texts import starter
from rknn_op.creation.new_repository import Created, Plan
from rknn_op.creation.plan_report import next_steps, plan_entry, plan_listing
from rknn_op.creation.workspaces import NewWorkspace, made_workspace, plan_workspace
from rknn_op.verbs import values

if TYPE_CHECKING:
    from rknn_op.models.drafting.selection import Selection


@click.command("create")
@values.path_option(
    "-c",
    "--config",
    "config",
    multiple=True,
    help="An operator description: a YAML file, or - for standard input. Several: -c A.yml "
    "B.yml ...",
)
@click.argument("others", nargs=-1, type=click.Path(path_type=Path), metavar="[NAME | YAML...]")
@values.path_option(
    "--from",
    "model",
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
@values.path_option(
    "--inputs",
    metavar="FILE.npz",
    help="The model's inputs by name, for the recorded cases; default: random ones.",
)
@values.path_option(
    "--toolkit",
    metavar="PYTHON",
    help="With --all: the Python that has the chip's toolkit, whose build of the model decides "
    "which types it lacks.",
)
@values.as_is
@click.option(
    "--quantize",
    is_flag=True,
    help="With --from: for each recorded case also NAME_int8, with its inputs rounded to int8.",
)
@click.option(
    "--library",
    "library_names",
    multiple=True,
    metavar="NAME",
    shell_complete=values.library,
    help="Instead of a description: a ready operator, or several; `rknn-op library` lists them.",
)
@values.path_option(
    "-p",
    "--path",
    metavar="DIR",
    help="The folder to make; for several descriptions and --all, the folder of all repositories. "
    "Default for descriptions and --library: the operator's name, in the current folder.",
)
@values.path_option(
    "--workspace",
    "workspace_",
    metavar="DIR",
    help="Instead of -p: a workspace, made if DIR is new; each operator is in DIR/NAME.",
)
@click.option(
    "--runtime",
    "runtimes",
    multiple=True,
    metavar="NAME",
    shell_complete=values.runtimes,
    help="A runtime, instead of the description's; may be repeated.",
)
@click.option(
    "--target",
    default="",
    metavar="NAME",
    shell_complete=values.targets,
    help="The target, instead of the description's; with --from, by default rk3588 for .onnx, "
    "rk1808 for .pb.",
)
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    metavar="NAME",
    shell_complete=values.kernels,
    help="A kernel besides the CPU kernel, instead of the description's: gpu or vx.",
)
@click.option(
    "--license",
    default="",
    metavar="NAME",
    shell_complete=values.licenses,
    help="The SPDX name of the new repository's license, such as MIT; default: none.",
)
@click.option(
    "--author",
    default="",
    metavar="NAME",
    help="The author in the license; default: the authors of the repository.",
)
@click.option(
    "--extras",
    default="",
    metavar="NAME",
    shell_complete=values.extras,
    help="The files for GitHub and editors: none, ci (default), or all: also dependabot, "
    "pre-commit and a devcontainer. A workspace has all.",
)
@click.option("--git", "with_git", is_flag=True, help="Make a git repository with a first commit.")
@click.option("-y", "--yes", is_flag=True, help="With NAME: ask nothing; take the default answers.")
@click.option("--dry-run", is_flag=True, help="Check all and print the plan; make nothing.")
@click.option("--json", "is_json", is_flag=True, help="With --dry-run: print the plan as JSON.")
def command(
    config: tuple[Path, ...],
    others: tuple[Path, ...],
    model: Path | None,
    op_type: str | None,
    node: str | None,
    is_all: bool,
    inputs: Path | None,
    toolkit: Path | None,
    as_is: bool,
    quantize: bool,
    library_names: tuple[str, ...],
    path: Path | None,
    workspace_: Path | None,
    runtimes: tuple[str, ...],
    target: str,
    kernels: tuple[str, ...],
    license: str,
    author: str,
    extras: str,
    with_git: bool,
    yes: bool,
    dry_run: bool,
    is_json: bool,
) -> None:
    """Make repositories from descriptions, a model, or the library.

    NAME is a new operator: asks for its runtimes, license, author and extras, and makes a
    description to start from.

    op.yml has the text of the description, except for changes by the options: parts that the
    chosen runtimes do not support are omitted with a warning. An invalid description does not stop
    the others; all errors are listed at the end. Ctrl-C, a full disk or a failed --git leave
    nothing.

    --from describes the nodes of a model: with the operator library's math where it has the
    operator, else with a reference by onnx or onnxruntime; with the nodes' tensors as cases,
    recorded in a run of the model; and with questions about all that the model does not say. With
    --all, an operator that cannot be made does not stop the others; the exit status is 1, also if
    a custom operator cannot replace one that the target lacks. The model is cleaned first, see
    `rknn-op scan`. It requires the packages onnx and onnxruntime.

    --library copies a ready operator: description, math, reference and cases. Letter case does not
    matter. Several, `--library Gelu TopK`, are made below the folder of -p.
    """
    if is_json and not dry_run:
        raise click.UsageError("--json needs --dry-run.")
    names = [name for text in runtimes for name in text.split(",")]
    choices = Choices(
        names,
        target,
        license or NO_LICENSE,
        author,
        extras or DEFAULT_EXTRAS,
        workspace_,
        [kernel.lower() for text in kernels for kernel in text.split(",")],
    )
    output = Output(dry_run, is_json, with_git)
    if library_names:
        library_names, others = (*library_names, *map(str, others)), ()
    new = None  # NAME of a new operator
    if not (config or model or library_names) and len(others) == 1:
        is_name = not (others[0].suffix or others[0].is_file())
        new = others[0] if is_name and others[0] != new_repository.STDIN else None
    configs = [] if new else [*config, *others]
    if (bool(configs), model is not None, bool(library_names)).count(True) > 1:
        raise click.UsageError("Descriptions (-c), --from and --library exclude each other.")
    if workspace_ and (path or model or extras):
        raise click.UsageError("--workspace excludes -p, --from and --extras.")
    if model:
        from rknn_op.models.drafting.selection import Selection  # only here: it imports models

        selection = Selection(op_type, node, is_all)
        _create_from(model, selection, path, choices, inputs, toolkit, as_is, quantize, output)
        return
    if {op_type, node, inputs, toolkit} != {None} or is_all or as_is or quantize:
        raise click.UsageError("The options for models, such as --op and --all, need --from MODEL.")
    if len(configs) > 1:
        _create_several(configs, path, choices, output)
        return
    parent = workspace_ or Path()
    if library_names:
        from rknn_op.creation import operator_library  # only here: others do without
    if len(library_names) > 1:
        below = path or parent
        plans = [operator_library.plan(name, None, choices, below) for name in library_names]
        with _workspace(workspace_, output) as inside:
            _create_planned(plans, inside)
            if not is_json:
                click.echo("".join(f"{each.folder}\n" for each in plans), nl=False)
        return
    if library_names:
        planned = operator_library.plan(library_names[0], path, choices, parent)
    elif configs:
        planned = new_repository.plan(configs[0], path, parent, choices)
    else:
        given = replace(choices, license=license, extras=extras)
        planned = _new(workspace_ / new if workspace_ and new else new, path, given, yes)
    with _workspace(workspace_, output) as inside:
        _create(planned, inside, math_is_done=bool(library_names))


def _new(folder: Path | None, path: Path | None, choices: Choices, yes: bool) -> Plan:
    """Ask for the choices of a new operator; return the plan.

    Args:
        folder: NAME, which may be a path that ends with the name; None: ask for it.
        path: the folder to make; None: `folder`.
        choices: the choices of options.
        yes: ask nothing.
    """
    if folder is None and (yes or not sys.stdin.isatty()):
        raise click.UsageError(
            "Missing NAME, or option '-c' / '--config', '--from' or '--library'."
        )
    folder = Path(ask_name()) if folder is None else folder
    check_name(folder.name)
    all_or_nothing.refuse_existing(path or folder)
    if choices.runtimes:
        check_runtimes(choices.runtimes)
    ask = with_defaults if yes else partial(ask_choices, folder.name)
    chosen = ask(choices)
    text = starter(folder.name, chosen.runtimes)
    chosen = replace(chosen, runtimes=())  # the text has them
    return new_repository.plan_text(text, "the new description", path or folder, choices=chosen)


@dataclass(frozen=True)
class Output:
    """The options of the output.

    Attributes:
        dry_run: make nothing; print the plan.
        is_json: print it as JSON.
        with_git: commit new repositories.
        root: the workspace of all repositories, which is committed instead of them.
        workspace: in a dry run, the plan of the new workspace.
    """

    dry_run: bool
    is_json: bool
    with_git: bool
    root: Path | None = None
    workspace: NewWorkspace | None = None

    @property
    def first(self) -> list[Plan | NewWorkspace]:
        """Return the plan of the new workspace, if any."""
        return [self.workspace] if self.workspace else []


@contextmanager
def _workspace(folder: Path | None, output: Output) -> Iterator[Output]:
    """Make the workspace of new operators, if it is new; undo it if they cannot be made.

    Args:
        folder: the workspace; None for standalone operators.
        output: the options of the output.

    Yields:
        The options for the operators in it.
    """
    if folder is None:
        yield output
        return
    if output.with_git:
        commits.refuse_first_commit(folder)
    inside = replace(output, root=folder)
    if (folder / workspace_members.FILE).is_file():
        yield inside
        return
    planned = plan_workspace(folder)
    if output.dry_run:
        yield replace(inside, workspace=planned)
    else:
        with made_workspace(planned):
            yield inside


def _create(planned: Plan, output: Output, math_is_done: bool = False) -> None:
    """Make a repository and print the next steps; in a dry run, print its files."""
    messages.warn(planned.warnings)
    _refuse_first_commits([planned.folder], output)
    if output.is_json:
        _print_json([*output.first, planned])
    elif output.dry_run:
        click.echo("".join(map(plan_listing, [*output.first, planned])), nl=False)
    else:
        with new_repository.created([planned]):
            _commit([planned.folder], output)
        steps = next_steps(
            planned.spec,
            planned.folder.absolute(),
            math_is_done=math_is_done,
            workspace=workspace_members.of_member(planned.folder),
        )
        click.echo(steps, nl=False)


def _print_json(planned: Iterable[Plan | NewWorkspace]) -> None:
    click.echo(json.dumps([plan_entry(each) for each in planned], indent=2))


def _refuse_first_commits(folders: Iterable[Path], output: Output) -> None:
    """Refuse an invalid --git before anything is made; a workspace's is checked already."""
    if output.with_git and output.root is None:
        for folder in folders:
            commits.refuse_first_commit(folder)


def _commit(folders: Iterable[Path], output: Output) -> None:
    """Commit new repositories, or their workspace, on request."""
    if output.with_git:
        for folder in [output.root] if output.root else folders:
            commits.first_commit(folder, f"Create {folder.name} with rknn-op {VERSION}")


def _create_from(
    model: Path,
    selection: Selection,
    path: Path | None,
    choices: Choices,
    inputs: Path | None,
    toolkit: Path | None,
    as_is: bool,
    is_quantized: bool,
    output: Output,
) -> None:
    """Make the repositories for operators of a model; print their contents."""
    if selection.count != 1:
        raise click.UsageError("--from needs exactly one of --op TYPE, --node NAME and --all.")
    if path is None:
        raise click.UsageError("--from needs -p DIR.")
    if toolkit and not selection.is_all:
        raise click.UsageError("--toolkit needs --all.")
    from rknn_op.models.drafting import from_model  # only here: it imports numpy

    plans = from_model.plans(model, selection, path, choices, inputs, toolkit, as_is, is_quantized)
    _create_planned([each.plan for each in plans.planned], output)
    if not output.is_json:
        click.echo(from_model.report(plans, is_made=not output.dry_run), nl=False)
    messages.end_with(plans.problems, plans.total, "made")
    if plans.unsuitable:
        click.get_current_context().exit(1)


def _create_planned(plans: Sequence[Plan], output: Output) -> None:
    """Make repositories whose plans are all valid; print their plans as JSON on request."""
    _refuse_first_commits([each.folder for each in plans], output)
    for each in plans:
        messages.warn(each.warnings)
    if output.is_json:
        _print_json([*output.first, *plans])
        return
    if output.dry_run:
        for each in plans:
            new_repository.rehearse(each)
        return
    with new_repository.created(plans):
        _commit([each.folder for each in plans], output)


def _create_several(
    configs: Sequence[Path], path: Path | None, choices: Choices, output: Output
) -> None:
    """Make repositories of several descriptions; end with an error if one cannot be made."""
    if new_repository.STDIN in configs:
        raise click.UsageError("- (standard input) is a single description.")
    if choices.workspace:  # whole, or not made at all
        for each in configs:
            new_repository.plan(each, None, choices.workspace, choices)
    with _workspace(choices.workspace, output) as inside:
        problems = _create_all(configs, choices.workspace or path or Path(), choices, inside)
    messages.end_with(problems, len(configs), "made")


def _create_all(
    configs: Sequence[Path], parent: Path, choices: Choices, output: Output
) -> list[OpkitError]:
    """Make the repositories of all valid descriptions; print their paths, return the errors."""
    _refuse_first_commits([parent / "any"], output)
    with ExitStack() as undo:
        scratch = (
            None if output.dry_run else undo.enter_context(all_or_nothing.staging(parent, parent))
        )
        results = new_repository.stage_all(configs, parent, choices, scratch)
        done = [*messages.track(results, len(configs), "creating")]
        problems = [result for result in done if isinstance(result, OpkitError)]
        created = [result for result in done if isinstance(result, Created)]
        undo.enter_context(
            all_or_nothing.moved({each.staged: each.plan.folder for each in created if each.staged})
        )
        if not output.dry_run:
            _commit([each.plan.folder for each in created], output)
    messages.warn(warning for each in created for warning in each.plan.warnings)
    if output.is_json:
        _print_json([*output.first, *(each.plan for each in created)])
    else:
        folders = [each.folder for each in output.first] + [each.plan.folder for each in created]
        click.echo("".join(f"{folder}\n" for folder in folders), nl=False)
    return problems
