"""`rknn-op lint`."""

from __future__ import annotations

from pathlib import Path

import click

from rknn_op.lint import FORMATS, lint


@click.command("lint")
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="YAML|DIR..."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice([*FORMATS]),
    default="text",
    show_default=True,
    help="For people, for programs, or for GitHub to show beside the lines.",
)
@click.pass_context
def command(ctx: click.Context, paths: tuple[Path, ...], format_: str) -> None:
    """Say all that is wrong with descriptions, or with repositories.

    Of a repository that is also: files of yours that op.yml no longer fits, generated files that a
    build would change, missing files, and a wheel of opkit that is missing, changed or old. The
    exit status is 1 if there is anything.
    """
    complaints = [each for path in paths for each in lint(path)]
    click.echo(FORMATS[format_](complaints), nl=False)
    count = len(complaints)
    click.echo(f"{count or 'no'} problem{'' if count == 1 else 's'}", err=True)
    ctx.exit(1 if complaints else 0)
