"""Options that several verbs have."""

from __future__ import annotations

from pathlib import Path

import click

repository = click.option(
    "-p",
    "--path",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The operator repository; default: the current folder.",
)
for_scons = click.argument("options", nargs=-1, metavar="[-- OPTIONS...]")
