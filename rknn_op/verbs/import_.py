"""`rknn-op import`."""

from __future__ import annotations

from pathlib import Path

import click

from rknn_op.vendor import importing


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "-p",
    "--path",
    type=click.Path(path_type=Path),
    help="The folder to make; default: DIR_imported.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be taken; make nothing.")
def command(folder: Path, path: Path | None, dry_run: bool) -> None:
    """Make a repository from one that the vendor's tool made.

    DIR stays as it is. Its kernels are kept byte for byte; the reference in numpy, with which
    `scons check` compares them, is yours to write. None of DIR's code is run.
    """
    planned = importing.plan(folder)
    new = importing.destination(folder, path)
    if not dry_run:
        importing.make(planned, new)
    click.echo(importing.report(planned, new, dry_run), nl=False)
