"""`rknn-op rename`."""

from __future__ import annotations

from pathlib import Path

import click

from rknn_op.upkeep.renaming import rename
from rknn_op.verbs import values

_MAX_LINES = 20


@click.command("rename")
@click.argument("name", metavar="NEW")
@values.path_option(
    "-p",
    "--path",
    default=Path(),
    metavar="DIR",
    help="The operator repository; default: the current folder.",
)
@click.option("--dry-run", is_flag=True, help="Print the changed files; change nothing.")
@click.option("--allow-dirty", is_flag=True, help="Rename despite uncommitted changes.")
def command(name: str, path: Path, dry_run: bool, allow_dirty: bool) -> None:
    """Rename the operator of a repository.

    Changes op.yml, the names of files, and the operator's identifiers in your files; writes the
    generated files again; deletes built files of the old name. After an error all files are as
    before. Lists the lines of yours that still have the old name as a word. The folder keeps its
    name. Another operator of the workspace must not have the name.
    """
    done = rename(path, name, dry_run, allow_dirty)
    for before, after in done.moved.items():
        click.echo(f"{before} -> {after}")
    for changed in done.changed:
        click.echo(f"{changed}: changed")
    for deleted in done.deleted:
        click.echo(f"{deleted}: deleted")
    if done.left:
        click.echo("\nThe old name is still in these lines of yours:")
        for each in [*done.left][:_MAX_LINES]:
            click.echo(f"  {each}")
        if len(done.left) > _MAX_LINES:
            click.echo(f"  and {len(done.left) - _MAX_LINES} more")
    click.echo(
        "\nNodes of models need the new name, too. Next: rknn-op check"
        + (f" -p {path}" if path != Path() else "")
    )
