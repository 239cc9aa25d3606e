"""`rknn-op build`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit import repository, runtimes
from opkit.description.parser import PC
from rknn_op import known_targets
from rknn_op.verbs.common import (
    SconsCommand,
    jobs_option,
    more_repositories,
    repositories,
    run_scons,
    status,
)


@click.command("build", cls=SconsCommand)
@repositories
@more_repositories
@click.option(
    "-t",
    "--target",
    "targets",
    type=click.Choice([*known_targets.names(), PC, "all"], case_sensitive=False),
    multiple=True,
    metavar="TARGET",
    help="A target of `rknn-op targets`, or all; may be repeated. "
    "Default: target_platform of op.yml.",
)
@jobs_option
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    others: tuple[Path, ...],
    targets: tuple[str, ...],
    jobs: int | None,
) -> None:
    """Build and pack by the repository's own code, with `scons`.

    Runs `scons target=...`. Prints the paths of the products on stdout, all else on stderr. OPTIONS
    go to scons unchanged, for instance toolchain=gnu; `scons -h` lists them.
    """
    options = ctx.meta["scons"]
    commands = [[f"target={target}", *options] for target in targets] or [options]
    runs = run_scons([*paths, *others], commands, jobs, err=True)
    for run in runs:
        if not run.status:
            spec = repository.load(run.folder)
            built = known_targets.product_folders(spec, run.arguments)
            for product in repository.products(run.folder, runtimes.selected(spec), built):
                click.echo(product)
    ctx.exit(status(runs))
