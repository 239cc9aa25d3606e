"""`rknn-op check`."""

from __future__ import annotations

from pathlib import Path

import click

from rknn_op.upkeep.chosen_operators import changed_operators, operators
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
@click.option(
    "--changed",
    "ref",
    is_flag=False,
    flag_value="HEAD",
    metavar="[REF]",
    help="Only the operators of the workspace whose files, or shared files, differ from a commit; "
    "default: HEAD, so those with changes that are not committed.",
)
@jobs_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    others: tuple[Path, ...],
    ref: str | None,
    jobs: int | None,
) -> None:
    """Compare kernels with numpy by the repository's own code.

    Runs `scons check`. OPTIONS go to scons unchanged, for instance target=rv1126; `scons -h` lists
    them.
    """
    folders = [*paths, *others]
    if ref is not None:
        folders = changed_operators(operators(folders), ref)
        if not folders:
            click.echo(f"no operator differs from {ref}")
            return
    runs = run_scons(folders, [["check", *ctx.meta["scons"]]], jobs, err=False)
    ctx.exit(status(runs))
