"""`rknn-op inspect`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit.errors import OpkitError
from opkit.runtimes.rknn.rknnop import describe, unpack


@click.command("inspect")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
def command(files: tuple[Path, ...]) -> None:
    """Show what is in packages (.rknnop)."""
    for index, file in enumerate(files):
        try:
            data = file.read_bytes()
        except OSError as error:
            raise OpkitError(f"{file}: cannot be read: {error.strerror}") from None
        listing = describe(unpack(data, str(file)))
        click.echo(f"{chr(10) if index else ''}{file}\n{listing.rstrip()}")
