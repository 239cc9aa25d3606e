"""`rknn-op inspect`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit.common.text import printable
from opkit.runtimes.rknn import rknnop
from rknn_op.verbs import values


@click.command("inspect")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one item for each file.")
@values.path_option(
    "--extract",
    metavar="DIR",
    help="Write each section of the package into DIR, a new or empty folder.",
)
@values.path_option(
    "--repack",
    metavar="OUT",
    help="Write the package, rebuilt from its parts, to OUT: the same bytes.",
)
def command(
    files: tuple[Path, ...], as_json: bool, extract: Path | None, repack: Path | None
) -> None:
    """Show the contents of packages (.rknnop)."""
    from rknn_op.runtimes.rknn import package_contents

    if (extract or repack) and len(files) > 1:
        raise click.UsageError("--extract and --repack take one package")
    packages = [(str(file), rknnop.read(file)) for file in files]
    if extract or repack:
        from rknn_op.runtimes.rknn import package_contents

        written = package_contents.extract(packages[0][1], extract) if extract else []
        if repack:
            package_contents.repack(packages[0][1], repack)
            written.append(repack)
        for path in written:
            click.echo(f"wrote {path}", err=True)
    if as_json:
        import json

        click.echo(
            json.dumps([package_contents.as_json(package, file) for file, package in packages])
        )
    else:
        texts = (
            f"{printable(file)}\n{package_contents.as_text(package).rstrip()}"
            for file, package in packages
        )
        click.echo("\n\n".join(texts))
