"""Shared parts of verbs: options, and the run of SCons in the given repositories."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from rknn_op import messages
from rknn_op.scons_runs import Processes, Run, run_all, scons, table
from rknn_op.upkeep.chosen_operators import operators, selection
from rknn_op.verbs import values

repositories = values.path_option(
    "-p",
    "--path",
    "paths",
    multiple=True,
    help="An operator repository, or a workspace with several; default: the current folder. "
    "Several: -p A B ...",
)
more_repositories = click.argument(
    "others", nargs=-1, type=click.Path(path_type=Path), metavar="[DIR]..."
)
jobs_option = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    metavar="N",
    help="The number of repositories in parallel; default: one for each processor.",
)


class SconsCommand(click.Command):
    """A verb that passes arguments behind `--` to SCons, in `ctx.meta["scons"]`."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the parts of the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- OPTIONS...]"]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments behind `--` for SCons; parse the others as usual."""
        end = args.index("--") if "--" in args else len(args)
        ctx.meta["scons"] = args[end + 1 :]
        return super().parse_args(ctx, args[:end])


def run_scons(
    paths: Sequence[Path], commands: Sequence[Sequence[str]], jobs: int | None, err: bool
) -> list[Run]:
    """Run SCons in repositories: print the output of a single run, or a table of several runs.

    Args:
        paths: the repositories, or workspaces with several; none: the current folder.
        commands: the arguments of each run in a repository; one with a target that only others
            of them have is left out.
        jobs: the number of repositories in parallel; None: one for each processor.
        err: print on stderr, not on stdout.
    """
    folders = operators(paths)
    if len(folders) * len(commands) == 1:
        with Processes() as processes:
            stdout = sys.stderr if err else None
            done = scons(processes, folders[0], *commands[0], stdout=stdout)
        return [Run(folders[0], commands[0], done.returncode)]
    selected = selection(folders, commands)
    total = sum(map(len, selected.commands.values()))
    results = run_all(selected.commands, jobs or min(len(folders), os.cpu_count() or 1))
    with closing(results):
        runs = [*messages.track(results, total, "scons")]
    for run in runs:
        if run.status:
            click.echo(f"{run.folder}: `{run.command}`\n{run.output}", err=True)
    click.echo(table(runs), err=err)
    if note := selected.note():
        click.echo(note, err=err)
    return runs


def status(runs: Sequence[Run]) -> int:
    """Return the exit status: that of a single run; else 1 if any failed."""
    return runs[0].status if len(runs) == 1 else int(any(run.status for run in runs))
