"""`rknn-op report`: the pages of repositories, and the page of a team."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import click

from opkit import workspace_members
from opkit.report import summary
from opkit.report.rendering import ENVIRONMENT
from opkit.report.summary import Summary
from opkit.repository_files import write_text
from rknn_op.scons_runs import Run
from rknn_op.upkeep.chosen_operators import operator_name, operators
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
        entries = []
        for run in runs:
            place = PurePosixPath(os.path.relpath(run.folder, root))
            found = summary.read(run.folder)
            problem = "" if found and found.check_failed == bool(run.status) else _problem(run)
            if found and found.check_failed and not any(each.failed for each in found.kernels):
                problem = "all cases passed, but the check failed; its output has the reason"
            name = operator_name(run.folder) or place.name
            entries.append(Entry(name, place, found, problem))
        time = datetime.now().strftime("%Y-%m-%d %H:%M")
        write_text(root, PAGE, team_page(root.absolute().name, time, entries))
        click.echo(os.path.relpath(root / PAGE))
    ctx.exit(status(runs))


def _problem(run: Run) -> str:
    """Return the reason why a run left no results: its first error, or its last line."""
    lines = [line.strip() for line in run.output.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line]
    return next(iter([*errors, *lines[-1:]]), f"`{run.command}` failed")


# ---- The page of a team: a row for each operator and kernel, with links to the operators' pages -

PAGE = "build/report.html"
_TEMPLATE = Path(__file__).with_name("team.html")


@dataclass(frozen=True)
class Entry:
    """An operator on the page.

    Attributes:
        name: its name; that of the folder if op.yml has none.
        folder: its repository, relative to the folder with `build/report.html` of the team.
        summary: the summary of its last report, or None.
        problem: the reason for a missing or failed report, or an empty text.
    """

    name: str
    folder: PurePosixPath
    summary: Summary | None
    problem: str = ""

    @property
    def link(self) -> str:
        """The URL of its page, relative to the team's."""
        return quote(f"../{self.folder}/{PAGE}")

    @property
    def place(self) -> str:
        """The folder in parentheses, if it differs from the name."""
        return "" if str(self.folder) == self.name else f" ({self.folder})"

    @property
    def has_failed(self) -> bool:
        """Whether its check failed or has no results."""
        return self.summary is None or self.summary.check_failed or bool(self.problem)


def team_page(title: str, time: str, entries: Sequence[Entry]) -> str:
    """Return the HTML page; operators that failed are first.

    Args:
        title: the heading.
        time: the time of the run, as text.
        entries: the operators.
    """
    ordered = sorted(entries, key=lambda each: (not each.has_failed, str(each.folder)))
    kernels = [kernel for each in entries if each.summary for kernel in each.summary.kernels]
    template = ENVIRONMENT.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        title=title,
        time=time,
        entries=ordered,
        failed=sum(each.has_failed for each in entries),
        kernels=len(kernels),
        cases=sum(kernel.cases for kernel in kernels),
    )
