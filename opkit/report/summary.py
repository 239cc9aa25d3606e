"""build/report.json: the counts of a report, for the page of a team."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from opkit.common import file_io

FILE = Path("build/report.json")


@dataclass(frozen=True)
class KernelSummary:
    """The results of a kernel.

    Attributes:
        kernel: its name, for instance "CPU kernel".
        cases: the number of its results.
        failed: of these, the number of failures.
        error: its largest error, formatted.
        ulp: the same in representable values, formatted.
        time: the longest time of a case, formatted.
    """

    kernel: str
    cases: int
    failed: int
    error: str
    ulp: str
    time: str


@dataclass(frozen=True)
class Summary:
    """The results of an operator.

    Attributes:
        operator: its name.
        runtimes: the names of its runtimes.
        check_failed: whether the check failed, in a case or elsewhere.
        time: the time of the run, as text.
        kernels: the results of each kernel, in the order of the run.
    """

    operator: str
    runtimes: Sequence[str]
    check_failed: bool
    time: str
    kernels: Sequence[KernelSummary]


def write(root: Path, summary: Summary) -> None:
    """Write the summary of a repository's report.

    Raises:
        OSError: the file cannot be written.
    """
    file_io.write_atomically(root / FILE, json.dumps(asdict(summary)).encode())


def read(root: Path) -> Summary | None:
    """Return the summary of a repository's last report, or None if there is none to be read."""
    try:
        fields = json.loads((root / FILE).read_text(encoding="utf-8"))
        kernels = [KernelSummary(**each) for each in fields.pop("kernels")]
        return Summary(**fields, kernels=kernels)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
