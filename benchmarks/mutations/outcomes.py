"""The outcomes of a run of tests, written by this plugin of pytest.

Under coverage, the test that reaches a line is its context, also in the processes of the test.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Generator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

FILE = "MUTATIONS_OUTCOMES"
"""The variable with the path of the file to write."""
TEST = "MUTATIONS_TEST"
"""The variable with the running test."""


@dataclass
class Outcomes:
    """The outcomes of a run.

    Attributes:
        seconds: passing test -> its time.
        failed: the failing tests.
        status: the exit status of pytest; below 0: it was killed.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    status: int = 0

    def write(self, file: Path) -> None:
        """Write the outcomes to a file."""
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Outcomes:
        """Return the outcomes in a file of write()."""
        return cls(**json.loads(file.read_text(encoding="utf-8")))


_seconds: defaultdict[str, float] = defaultdict(float)
_passed: set[str] = set()
_failed: set[str] = set()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Make the test the context of coverage."""
    os.environ[TEST] = item.nodeid
    _switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        _switch_context("")
        del os.environ[TEST]


def _switch_context(name: str) -> None:
    if coverage := sys.modules.get("coverage"):  # started with the process
        coverage.Coverage.current().switch_context(name)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the outcome of a phase of a test."""
    _seconds[report.nodeid] += report.duration
    if report.failed:
        _failed.add(report.nodeid)
    elif report.when == "call" and report.passed:
        _passed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the outcomes, in the process that has those of all workers."""
    if not hasattr(session.config, "workerinput"):
        seconds = {test: _seconds[test] for test in sorted(_passed - _failed)}
        Outcomes(seconds, sorted(_failed)).write(Path(os.environ[FILE]))
