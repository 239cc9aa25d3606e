"""`rknn-op lint`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit.common.complaint import Complaint
from rknn_op.upkeep.chosen_operators import name_complaints, operators, roots
from rknn_op.upkeep.linting import FORMATS, lint_all, workspace_complaints


@click.command("lint")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[YAML|DIR...]")
@click.option(
    "--format",
    "format_",
    type=click.Choice([*FORMATS]),
    default="text",
    show_default=True,
    help="For people, for programs, or for annotations of lines on GitHub.",
)
@click.pass_context
def command(ctx: click.Context, paths: tuple[Path, ...], format_: str) -> None:
    """Report all problems of descriptions or repositories.

    In a repository also: files of yours that no longer fit op.yml, generated files that a build
    would change, missing files, a changed requirements.lock, a missing, changed or old wheel of
    opkit, and another operator of that name, in the workspace or among the arguments. A workspace
    stands for its operators; without arguments, the current folder is the repository or the
    workspace. The exit status is 1 if there are problems; notes do not count.
    """
    complaints: list[Complaint] = []
    for root in roots(paths):
        complaints += workspace_complaints(root)
    found = operators(paths)
    complaints += lint_all(found)
    complaints += name_complaints([path for path in found if path.is_dir()])
    click.echo(FORMATS[format_](complaints), nl=False)
    count = sum(each.severity != "note" for each in complaints)
    click.echo(f"{count or 'no'} problem{'' if count == 1 else 's'}", err=True)
    ctx.exit(1 if count else 0)
