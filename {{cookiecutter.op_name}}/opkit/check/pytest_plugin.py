"""pytest plugin of an operator repository: builds before the tests, and shows a table after them.

`pytest.ini` loads it. It keeps a bare `pytest` from testing a library that is older than its
sources; `scons check` has built already, and says so with OPKIT_BUILT in the environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from opkit.check import executors
from opkit.check.results import Result, error_text, time_text, ulp_text
from opkit.check.session import REPOSITORY, RunningTest, repository_of, running

_PROPERTY = "opkit"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare what `scons check` tells the session."""
    parser.addoption(
        "--executors", type=Path, help="a file of scons check: where the kernel runs besides here"
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Build the library for this PC, once, unless that is done or nothing will run."""
    config = session.config
    is_worker = hasattr(config, "workerinput")
    if os.environ.get("OPKIT_BUILT") or is_worker or config.option.collectonly:
        return
    problem = build(REPOSITORY)
    if problem:
        pytest.exit(f"`scons target=x64` failed:\n{problem}", returncode=1)


def build(root: Path) -> str:
    """Run `scons target=x64` in a repository; return what it said if it failed, else nothing."""
    run = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q", "-s", "target=x64"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return "" if run.returncode == 0 else run.stdout.strip() or f"exit status {run.returncode}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Attach the results of a test to its report, which crosses process borders."""
    root = repository_of(item.path)
    file = item.config.option.executors
    prepared = executors.load(file) if file and root == REPOSITORY else []
    with running(RunningTest(root, prepared)) as test:
        try:
            return (yield)
        finally:
            item.user_properties += [(_PROPERTY, asdict(result)) for result in test.results]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table of cases."""
    results = [
        Result(**value)
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, ())
        for name, value in getattr(report, "user_properties", ())
        if name == _PROPERTY and report.when == "call"
    ]
    if results:
        terminalreporter.section("kernels against their reference")
        for line in table(results):
            terminalreporter.write_line(line)
        for note in dict.fromkeys(result.note for result in results if result.note):
            terminalreporter.write_line(note)


def table(results: Iterable[Result]) -> list[str]:
    """Return the lines of a table: kernel, case, largest error, the same in ulp, time."""
    rows = [("kernel", "case", "max error", "ulp", "time")]
    rows += [
        (
            result.kernel,
            result.case,
            error_text(result.max_error),
            ulp_text(result.max_ulp),
            "FAILED" if result.problem else time_text(result.seconds),
        )
        for result in results
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
