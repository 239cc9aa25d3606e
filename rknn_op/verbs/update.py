"""`rknn-op update`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from opkit.common.errors import OpkitError
from opkit.version import VERSION
from rknn_op import messages
from rknn_op.upkeep.chosen_operators import roots
from rknn_op.upkeep.updating import Update, update
from rknn_op.upkeep.workspace_update import update_workspace
from rknn_op.verbs.common import more_repositories, repositories


@click.command("update")
@repositories
@more_repositories
@click.option("--dry-run", is_flag=True, help="Print the changed files; change nothing.")
@click.option("--diff", is_flag=True, help="Print the changes as a diff; change nothing.")
@click.option(
    "--merge",
    "merges",
    is_flag=True,
    help="Merge the template's changes into your files, too, unless you changed the same lines.",
)
@click.option("--json", "is_json", is_flag=True, help="With --dry-run: print the plan as JSON.")
@click.option("--allow-dirty", is_flag=True, help="Update despite uncommitted changes.")
def command(
    paths: tuple[Path, ...],
    others: tuple[Path, ...],
    dry_run: bool,
    diff: bool,
    merges: bool,
    is_json: bool,
    allow_dirty: bool,
) -> None:
    """Update opkit and the generated files to this version.

    Adds the files of a runtime that is new in op.yml, and new files of the template. Your own files
    stay as they are; if the template's version of one has changed, the diff is printed, and --merge
    writes it into your file.
    """
    if is_json and not dry_run:
        raise click.UsageError("--json needs --dry-run.")
    folders = [*paths, *others] or [Path()]
    problems: list[OpkitError] = []
    done: list[Update] = []
    for folder in messages.track(folders, len(folders), "updating"):
        try:
            options = (dry_run or diff, allow_dirty, merges)
            is_workspace = roots([folder])
            for each in (
                update_workspace(folder, *options) if is_workspace else [update(folder, *options)]
            ):
                done.append(each)
                if not is_json:
                    _print(each, diff, is_done=not (dry_run or diff))
        except OpkitError as error:
            if len(folders) == 1:
                raise
            problems.append(error)
    if is_json:
        click.echo(json.dumps([_entry(each) for each in done], indent=2))
    messages.end_with(problems, len(folders), "updated")


_MERGE = "\n`rknn-op update --merge` writes these changes into your files."
_MERGE_DONE = """
To have these changes written into your files, revert this update with git, and
run `rknn-op update --merge`."""
_UNKNOWN = """
Not compared, because the old wheel does not have the template's texts of these
files; they stay, and differ from those of `rknn-op workspace init`:
"""


def _entry(done: Update) -> dict[str, Any]:
    """Return the properties of an update, for JSON."""
    return {
        "folder": str(done.folder),
        "from": done.version,
        "to": VERSION,
        "changed": _kinds(done),
        "yours": [*done.advice],
        "conflicts": [*done.conflicts],
        "unknown": [*done.unknown],
    }


def _kinds(done: Update) -> dict[str, str]:
    """Return path -> kind of the change of each file."""
    return {
        path: "new" if before is None else "deleted" if after is None else "changed"
        for path, (before, after) in done.changed.items()
    }


def _print(done: Update, with_diff: bool, is_done: bool) -> None:
    """Print the changes of an update.

    Args:
        done: the update.
        with_diff: print the changed lines, too.
        is_done: whether the files have changed.
    """
    if not (done.changed or done.advice):
        click.echo(f"{done.folder}: up to date with {VERSION}")
        return
    if done.version == VERSION:
        click.echo(f"{done.folder}: updated to {VERSION}")
    else:
        click.echo(f"{done.folder}: from {done.version} to {VERSION}")
    kinds = _kinds(done)
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
    if done.conflicts:
        click.echo("\nTo merge by hand, because your changes may be in the same lines:")
        click.echo("".join(f"  {path}\n" for path in done.conflicts), nl=False)
    elif done.advice:
        click.echo(_MERGE_DONE if is_done else _MERGE)
    if done.unknown:
        click.echo(_UNKNOWN + "".join(f"  {path}\n" for path in done.unknown), nl=False)
