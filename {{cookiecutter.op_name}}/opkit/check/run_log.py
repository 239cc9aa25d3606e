"""The log of a run of pytest, and what of a whole check is missing in it.

`scons check` believes the log, not pytest's exit status: a test or a reference that ends Python
leaves the status of its choice, but not the last line of the log.

A line is a JSON object with one of these keys, in this order:

    collected   the id of a test, before any option has taken it out
    skipped     the id of a file that skips itself
    started     the id of a test
    finished    the id of a test, with `outcome` and `results`: [kernel, whether it failed] each
    complete    the exit status of pytest
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class CheckedKernel:
    """A kernel that tests check.

    Attributes:
        name: what the table of cases calls it.
        check: the function of opkit.testing that checks it.
    """

    name: str
    check: str

    def on(self, place: str) -> str:
        """Return what the table of cases calls it elsewhere than on this PC."""
        return f"{self.name}, {place}"


CPU_KERNEL = CheckedKernel("CPU kernel", "check_cpu_kernel")
"""The math in C, as a runtime calls it; every operator has one."""


@dataclass(frozen=True)
class Finished:
    """What came of a test.

    Attributes:
        outcome: `passed`, `failed`, `skipped` or `xfailed`.
        results: of each case that it has checked: which kernel, and whether it failed.
    """

    outcome: str
    results: Sequence[tuple[str, bool]] = ()


@dataclass
class RunLog:
    """What a run of pytest has said of itself.

    Attributes:
        collected: the ids of all tests, in order.
        skipped_files: the test files that skip themselves.
        started: the test that started last.
        finished: id -> what came of the test.
        status: pytest's exit status; None if it has not come to its end.
    """

    collected: dict[str, None] = field(default_factory=dict)
    skipped_files: set[str] = field(default_factory=set)
    started: str = ""
    finished: dict[str, Finished] = field(default_factory=dict)
    status: int | None = None

    def add(self, line: Mapping[str, Any]) -> None:
        """Take a line into account."""
        match line:
            case {"collected": test}:
                self.collected[test] = None
            case {"skipped": file}:
                self.skipped_files.add(file)
            case {"started": test}:
                self.started = test
            case {"finished": test, "outcome": outcome, "results": results}:
                self.finished[test] = Finished(outcome, [(kernel, bad) for kernel, bad in results])
            case {"complete": status}:
                self.status = status

    def results(self) -> Iterator[tuple[str, bool]]:
        """Yield the kernel of each case that was checked, and whether it failed."""
        for test in self.finished.values():
            yield from test.results


def append(file: Path, line: Mapping[str, Any]) -> None:
    """Add a line to a log; several processes may write into one."""
    with file.open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


def read(file: Path) -> RunLog:
    """Return what a log says; nothing has run if it is not there."""
    log = RunLog()
    if file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            log.add(json.loads(line))
    return log


# ---- What is missing ----------------------------------------------------------------------------


def unchecked(log: RunLog, kernels: Mapping[CheckedKernel, str]) -> Iterator[str]:
    """Yield a sentence for each kernel that no case has run on.

    Args:
        log: what ran.
        kernels: those that should have run, each with the reason.
    """
    ran = {name for name, _ in log.results()}
    skipped = [test for test, finished in log.finished.items() if finished.outcome == "skipped"]
    skipped += sorted(log.skipped_files)
    for kernel, reason in kernels.items():
        if kernel.name not in ran:
            cause = f"{len(skipped)} skipped, the first is {skipped[0]}; " if skipped else ""
            yield (
                f"no case ran on the {kernel.name} ({reason}): {cause}"
                f"a test in tests/ has to call {kernel.check} for at least one case"
            )


def missing(
    log: RunLog,
    kernels: Mapping[CheckedKernel, str],
    elsewhere: Mapping[str, Sequence[str]],
    files: Sequence[str],
) -> list[str]:
    """Return a sentence for each thing that a whole check would have in its log.

    Args:
        log: what ran.
        kernels: those that should have run, each with the reason.
        elsewhere: kernel -> what the table of cases calls it in the other places where it had to
            run.
        files: the test files of the repository, as the ids of tests name them.
    """
    if log.status is None:
        return [_cut_off(log)]
    return [
        *_not_run(log),
        *_files_without_tests(log, files),
        *unchecked(log, kernels),
        *_not_everywhere(log, elsewhere),
        *_unnoticed_failures(log),
    ]


def _cut_off(log: RunLog) -> str:
    where = "before the first test"
    if log.started:
        count = f"{len(log.finished)} of {_count(len(log.collected), 'test')}"
        where = f"in the middle of {log.started}, after {count}"
    return (
        f"pytest ended {where}; does a kernel, a test or the reference end the process, "
        "with exit for instance?"
    )


def _not_run(log: RunLog) -> Iterator[str]:
    left = [test for test in log.collected if test not in log.finished]
    if left:
        yield (
            f"{len(left)} of {_count(len(log.collected), 'test')} did not run, the first is "
            f"{left[0]}; which option of pytest (in pytest.ini, PYTEST_ADDOPTS or conftest.py) "
            "leaves it out?"
        )


def _files_without_tests(log: RunLog, files: Sequence[str]) -> Iterator[str]:
    known = {test.partition("::")[0] for test in log.collected} | log.skipped_files
    for file in files:
        if file not in known:
            yield f"{file} has no test, or pytest does not collect it; write one, or delete it"


def _not_everywhere(log: RunLog, elsewhere: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for test, finished in log.finished.items():
        counts = Counter(name for name, _ in finished.results)
        for kernel, others in elsewhere.items():
            for other in others:
                if counts[other] != counts[kernel]:
                    yield (
                        f"{test} has {_count(counts[kernel], 'result')} of the {kernel}, "
                        f"but {counts[other]} of the {other}"
                    )


def _unnoticed_failures(log: RunLog) -> Iterator[str]:
    unnoticed = {
        test: name
        for test, finished in log.finished.items()
        for name, failed in finished.results
        if failed and finished.outcome == "passed"
    }
    if unnoticed:
        test, kernel = next(iter(unnoticed.items()))
        yield (
            f"{_count(len(unnoticed), 'test')} passed although a case failed in it, the first is "
            f"{test} on the {kernel}; does it catch what check_... raises?"
        )


def summary(log: RunLog) -> str:
    """Return a line that says how many cases ran on which kernels, and what was skipped."""
    cases = Counter(name for name, _ in log.results())
    failed = Counter(name for name, has_failed in log.results() if has_failed)
    parts = [
        f"{name}: {_count(count, 'case')}" + (f", {failed[name]} failed" if failed[name] else "")
        for name, count in cases.items()
    ] or ["nothing"]
    for outcome in ("skipped", "xfailed"):
        count = sum(test.outcome == outcome for test in log.finished.values())
        parts += [f"{_count(count, 'test')} {outcome}"] if count else []
    parts += [f"{file} skipped" for file in sorted(log.skipped_files)]
    return f"checked {'; '.join(parts)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
