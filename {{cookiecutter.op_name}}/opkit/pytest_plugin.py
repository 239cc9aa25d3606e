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

from opkit import testing
from opkit.checks.operators import REPOSITORY
from opkit.checks.results import Result, error_text, time_text, ulp_text

_PROPERTY = "opkit"
_INTEGER_INPUT = "opkit_integer_input"


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
    testing.RESULTS.clear()
    testing.INTEGER_INPUTS.clear()
    try:
        return (yield)
    finally:
        item.user_properties += [(_PROPERTY, asdict(result)) for result in testing.RESULTS]
        item.user_properties += [(_INTEGER_INPUT, name) for name in testing.INTEGER_INPUTS]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table of cases."""
    properties = [
        (name, value)
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, ())
        for name, value in getattr(report, "user_properties", ())
        if report.when == "call"
    ]
    results = [Result(**value) for name, value in properties if name == _PROPERTY]
    integer_inputs = dict.fromkeys(value for name, value in properties if name == _INTEGER_INPUT)
    if results:
        terminalreporter.section("kernels against their reference")
        for line in table(results):
            terminalreporter.write_line(line)
    if integer_inputs:
        inputs = ", ".join(integer_inputs)
        terminalreporter.write_line(
            f"note: cases have integer inputs ({inputs}), but RKNN-Toolkit hands custom operators "
            "float16, in which integers are exact up to 2048"
        )


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
