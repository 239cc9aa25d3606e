"""`rknn-op import`."""

from __future__ import annotations

from pathlib import Path

import click

from rknn_op.runtimes.rknn.vendor import importing
from rknn_op.verbs import values


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@values.path_option("-p", "--path", help="The folder to make; default: DIR_imported.")
@click.option("--dry-run", is_flag=True, help="Print the plan; make nothing.")
def command(folder: Path, path: Path | None, dry_run: bool) -> None:
    """Make a repository from one of the vendor's tool.

    DIR is not changed, and none of its code is run. Its kernels are copied byte for byte. You write
    the reference in numpy, with which `scons check` compares them.
    """
    planned = importing.plan(folder)
    new = importing.destination(folder, path)
    if not dry_run:
        importing.make(planned, new)
    click.echo(importing.report(planned, new, dry_run), nl=False)
