"""The tests that reach each line of the project's Python, recorded by a run under coverage."""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutations.copies import environment, run_tests
from benchmarks.mutations.outcomes import TEST, Outcomes
from opkit.common.errors import OpkitError

_TRACKED = ("opkit", "rknn_op", "operators", "tests")
"""The folders whose change makes a record invalid."""
_DATA = "lines"
_OUTCOMES = "outcomes.json"
_SETTINGS = f"""\
[run]
parallel = true
data_file = {{folder}}/{_DATA}
context = ${{{{{TEST}}}}}
include = */opkit/*, */rknn_op/*
omit = */tests/*
patch = _exit
sigterm = true

[paths]
opkit =
    {{copy}}/opkit
    */opkit
rknn_op =
    {{copy}}/rknn_op
    */rknn_op
"""
"""Tests copy and install the sources to folders of their own, and start processes there."""


@dataclass(frozen=True)
class Record:
    """The tests of a run.

    Attributes:
        data: the data of coverage, with the tests as contexts.
        outcomes: the outcomes of the tests.
    """

    data: Path
    outcomes: Outcomes

    def reaching(self, file: str, lines: Iterable[int]) -> set[str]:
        """Return the passing tests that reach any of the lines.

        A line that runs only while its module is imported is reached by the tests of the module.

        Args:
            file: the path of a source in the project.
            lines: numbers of its lines.
        """
        found = _tests_by_line(self.data, file)
        tests = set[str]().union(*(found.get(line, ()) for line in lines))
        return (tests or set[str]().union(*found.values())) & self.outcomes.seconds.keys()


@functools.lru_cache(maxsize=8)
def _tests_by_line(path: Path, file: str) -> dict[int, set[str]]:
    from coverage import CoverageData

    data = CoverageData(str(path))
    data.read()
    found: dict[int, set[str]] = {}
    for name in data.measured_files():
        if name.endswith(f"/{file}"):
            for line, contexts in data.contexts_by_lineno(name).items():
                found[line] = {*contexts} - {""}
    return found


def recorded(copy: Path, tests: Sequence[str], slow: bool, records: Path) -> Record:
    """Return the record of tests; run them unless an earlier record of the same code exists.

    Args:
        copy: the copy of the project.
        tests: files and folders of tests.
        slow: whether to run tests that are marked as slow, too.
        records: the folder of the records; only the newest one stays.

    Raises:
        OpkitError: coverage is not installed, or no test passes.
    """
    folder = records.resolve() / _key(copy, tests, slow)
    if not (folder / _OUTCOMES).exists():
        shutil.rmtree(records, ignore_errors=True)
        folder.mkdir(parents=True)
        _record(copy, tests, slow, folder)
    return Record(folder / _DATA, Outcomes.read(folder / _OUTCOMES))


def _key(copy: Path, tests: Sequence[str], slow: bool) -> str:
    """Return the name of a record: the same for the same code and tests."""
    names = [f"HEAD:{name}" for name in _TRACKED]
    run = subprocess.run(
        ["git", "rev-parse", *names], cwd=copy, check=True, capture_output=True, text=True
    )
    text = f"{run.stdout}{sorted(tests)}{slow}{sys.version}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _record(copy: Path, tests: Sequence[str], slow: bool, folder: Path) -> None:
    settings = folder / "coveragerc"
    settings.write_text(_SETTINGS.format(folder=folder, copy=copy), encoding="utf-8")
    variables = {"COVERAGE_PROCESS_START": str(settings)}
    outcomes = run_tests(copy, tests, ("-m", "") if slow else (), variables=variables)
    combine = [sys.executable, "-m", "coverage", "combine", "--quiet", f"--rcfile={settings}"]
    run = subprocess.run(
        combine, cwd=copy, env=environment(), capture_output=True, text=True, check=False
    )
    if run.returncode or not outcomes.seconds:
        raise OpkitError(f"no record of the tests: {run.stdout}{run.stderr}".strip())
    outcomes.write(folder / _OUTCOMES)
