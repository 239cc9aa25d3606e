"""`rknn-op check`."""

from __future__ import annotations

from pathlib import Path

import click

from rknn_op.verbs.common import (
    SconsCommand,
    jobs_option,
    more_repositories,
    repositories,
    run_scons,
    status,
)


@click.command("check", cls=SconsCommand)
@repositories
@more_repositories
@jobs_option
@click.pass_context
def command(
    ctx: click.Context, paths: tuple[Path, ...], others: tuple[Path, ...], jobs: int | None
) -> None:
    """Compare kernels with numpy by the repository's own code.

    Runs `scons check`. OPTIONS go to scons unchanged, for instance target=rv1126; `scons -h` lists
    them.
    """
    runs = run_scons([*paths, *others], [["check", *ctx.meta["scons"]]], jobs, err=False)
    ctx.exit(status(runs))
