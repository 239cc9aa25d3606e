"""`rknn-op check`."""

from __future__ import annotations

from pathlib import Path

import click

from rknn_op import repositories
from rknn_op.verbs.options import for_scons, repository


@click.command("check")
@repository
@for_scons
@click.pass_context
def command(ctx: click.Context, path: Path, options: tuple[str, ...]) -> None:
    """Compare the kernels with numpy on this PC: `scons check`."""
    ctx.exit(repositories.scons(path, "check", *options).returncode)
