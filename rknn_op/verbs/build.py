"""`rknn-op build`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit.description.parser import PC
from rknn_op import repositories, targets
from rknn_op.verbs.options import for_scons, repository


@click.command("build")
@repository
@click.option(
    "-t",
    "--target",
    type=click.Choice([*targets.names(), PC, "all"], case_sensitive=False),
    metavar="TARGET",
    help="What to build for, of `rknn-op targets`, or all; default: what op.yml says.",
)
@for_scons
@click.pass_context
def command(ctx: click.Context, path: Path, target: str | None, options: tuple[str, ...]) -> None:
    """Build and pack: `scons target=...` in repositories.

    OPTIONS go to scons as they are, for instance toolchain=gnu; `scons -h` lists them.
    """
    arguments = [f"target={target}"] if target else []
    ctx.exit(repositories.scons(path, *arguments, *options).returncode)
