"""`rknn-op report`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath

import click

from opkit import workspace_members
from opkit.report import summary
from opkit.repository_files import write_text
from rknn_op.scons_runs import Run
from rknn_op.upkeep import names
from rknn_op.upkeep.team import PAGE, Entry, team_page
from rknn_op.upkeep.workspace_operators import operators
from rknn_op.verbs.common import (
    SconsCommand,
    jobs_option,
    more_repositories,
    repositories,
    run_scons,
    status,
)


@click.command("report", cls=SconsCommand)
@repositories
@more_repositories
@jobs_option
@click.pass_context
def command(
    ctx: click.Context, paths: tuple[Path, ...], others: tuple[Path, ...], jobs: int | None
) -> None:
    """Check, and write pages of the results.

    Runs `scons report`, which writes build/report.html of a repository. For several ones, writes
    also build/report.html of the workspace, or of the current folder: a row for each operator and
    kernel, with links to their pages. OPTIONS go to scons unchanged.
    """
    folders = operators([*paths, *others])
    for folder in folders:
        (folder / summary.FILE).unlink(missing_ok=True)
    runs = run_scons(folders, [["report", *ctx.meta["scons"]]], jobs, err=False)
    if len(folders) > 1:
        root = workspace_members.above(folders[0]) or Path()
        write_text(root, PAGE, _page(root, runs))
        click.echo(os.path.relpath(root / PAGE))
    ctx.exit(status(runs))


def _page(root: Path, runs: Sequence[Run]) -> str:
    """Return the page of runs of `scons report`, with links relative to a folder's page."""
    entries = []
    for run in runs:
        place = PurePosixPath(os.path.relpath(run.folder, root))
        found = summary.read(run.folder)
        problem = "" if found and found.check_failed == bool(run.status) else _problem(run)
        if found and found.check_failed and not any(each.failed for each in found.kernels):
            problem = "all cases passed, but the check failed; its output has the reason"
        name = names.operator_name(run.folder) or place.name
        entries.append(Entry(name, place, found, problem))
    return team_page(root.absolute().name, datetime.now().strftime("%Y-%m-%d %H:%M"), entries)


def _problem(run: Run) -> str:
    """Return the reason why a run left no results: its first error, or its last line."""
    lines = [line.strip() for line in run.output.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line]
    return next(iter([*errors, *lines[-1:]]), f"`{run.command}` failed")
