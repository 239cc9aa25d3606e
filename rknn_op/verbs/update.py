"""`rknn-op update`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit.errors import OpkitError
from opkit.version import VERSION
from rknn_op import messages, progress
from rknn_op.update import Update, update
from rknn_op.verbs.common import more_repositories, repositories
from rknn_op.workspace_operators import roots
from rknn_op.workspace_update import update_workspace


@click.command("update")
@repositories
@more_repositories
@click.option("--dry-run", is_flag=True, help="Print the changed files; change nothing.")
@click.option("--diff", is_flag=True, help="Print the changes as a diff.")
@click.option("--allow-dirty", is_flag=True, help="Update despite uncommitted changes.")
def command(
    paths: tuple[Path, ...], others: tuple[Path, ...], dry_run: bool, diff: bool, allow_dirty: bool
) -> None:
    """Update opkit and the generated files to this version.

    Adds the files of a runtime that is new in op.yml. Your own files stay as they are; if the
    template's version of one has changed, the diff is printed.
    """
    folders = [*paths, *others] or [Path()]
    problems: list[OpkitError] = []
    for folder in progress.track(folders, len(folders), "updating"):
        try:
            if roots([folder]):
                for done in update_workspace(folder, dry_run, allow_dirty):
                    _print(done, diff)
            else:
                _print(update(folder, dry_run, allow_dirty), diff)
        except OpkitError as error:
            if len(folders) == 1:
                raise
            problems.append(error)
    messages.end_with(problems, len(folders), "updated")


def _print(done: Update, with_diff: bool) -> None:
    if not done.changed:
        click.echo(f"{done.folder}: up to date with {VERSION}")
        return
    if done.version == VERSION:
        click.echo(f"{done.folder}: restored to {VERSION}")
    else:
        click.echo(f"{done.folder}: from {done.version} to {VERSION}")
    kinds = {
        path: "new" if before is None else "deleted" if after is None else "changed"
        for path, (before, after) in done.changed.items()
    }
    opkit = [kind for path, kind in kinds.items() if path.startswith("opkit/")]
    if opkit:
        counts = [f"{opkit.count(kind)} {kind}" for kind in dict.fromkeys(opkit)]
        click.echo(f"  opkit/: {', '.join(counts)}")
    for path, kind in kinds.items():
        if not path.startswith("opkit/"):
            click.echo(f"  {path}: {kind}")
    if with_diff:
        click.echo(done.diff(), nl=False)
    for path, text in done.advice.items():
        click.echo(
            f"\n{path} is yours and stays. In the template it has changed:\n\n{text}", nl=False
        )
