"""The page of a team: a row for each operator and kernel, with links to the operators' pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from opkit.report.rendering import ENVIRONMENT
from opkit.report.summary import Summary

PAGE = "build/report.html"
_TEMPLATE = Path(__file__).with_name("team.html")


@dataclass(frozen=True)
class Entry:
    """An operator on the page.

    Attributes:
        name: its name; that of the folder if op.yml has none.
        folder: its repository, relative to the folder with `build/report.html` of the team.
        summary: of its last report; None: there is none.
        problem: the reason for a missing or failed report; empty: there is none.
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
        """The folder in parentheses, if the name does not say it."""
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
