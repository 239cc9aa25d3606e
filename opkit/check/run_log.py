"""The log of a run of pytest, and its gaps compared to a complete check.

`scons check` relies on the log, not on pytest's exit status: a test or a reference that exits can
set any status, but does not write the last line of the log; a conftest.py can set any status, but
does not change the outcomes in the log.

A line is a JSON object with one of these keys, in this order:

    collected   the id of a test, before deselection by options
    skipped     the id of a file that skips itself
    started     the id of a test
    finished    the id of a test, with `outcome`, `results`: [kernel, whether it failed] each,
                `left_out`: kernels, `params`: the formatted values of each case by name, and
                `strengths`: [kernel, output, cause, reason] each, see weak_cases.strengths
    errored     the id of a file that is not collected, or of a test whose teardown fails
    altered     the id of a test that fails, but which conftest.py skips, xfails or passes
    complete    the exit status of pytest
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opkit.description.describe import CheckedKernel


@dataclass(frozen=True)
class FinishedTest:
    """The outcome of a test.

    Attributes:
        outcome: `passed`, `failed`, `skipped` or `xfailed`.
        results: (kernel, whether it failed) for each checked case.
        left_out: the kernel of each case that could not run.
        params: name of each param -> formatted value, of each case.
        strengths: (kernel, output, cause, reason) for each output of a case that passed.
    """

    outcome: str
    results: Sequence[tuple[str, bool]] = ()
    left_out: Sequence[str] = ()
    params: Sequence[Mapping[str, str]] = ()
    strengths: Sequence[tuple[str, str, str, str]] = ()

    def kernels(self) -> list[str]:
        """Return the kernel of each case."""
        return [*(name for name, _ in self.results), *self.left_out]


@dataclass
class RunLog:
    """The events of a run of pytest.

    Attributes:
        collected: the ids of all tests, in order.
        skipped_files: the test files that skip themselves.
        started: the id of the last started test.
        finished: id -> the outcome of the test.
        errored: the ids of files and tests with an error outside of a test.
        altered: the ids of tests with an outcome of conftest.py.
        status: pytest's exit status; None if it did not finish.
    """

    collected: dict[str, None] = field(default_factory=dict)
    skipped_files: set[str] = field(default_factory=set)
    started: str = ""
    finished: dict[str, FinishedTest] = field(default_factory=dict)
    errored: dict[str, None] = field(default_factory=dict)
    altered: dict[str, None] = field(default_factory=dict)
    status: int | None = None

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a line."""
        match line:
            case {"collected": test}:
                self.collected[test] = None
            case {"skipped": file}:
                self.skipped_files.add(file)
            case {"started": test}:
                self.started = test
            case {"finished": test, "outcome": outcome, "results": results, **others}:
                ran = [(kernel, bad) for kernel, bad in results]
                lists = {name: tuple(values) for name, values in others.items()}
                self.finished[test] = FinishedTest(outcome, ran, **lists)
            case {"errored": name}:
                self.errored[name] = None
            case {"altered": test}:
                self.altered[test] = None
            case {"complete": status}:
                self.status = status

    def results(self) -> Iterator[tuple[str, bool]]:
        """Yield (kernel, whether it failed) for each checked case."""
        for test in self.finished.values():
            yield from test.results


def append(file: Path, line: Mapping[str, Any]) -> None:
    """Add a line to a log; several processes may write into the same log."""
    with file.open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


def read(file: Path) -> RunLog:
    """Return the log in a file; an empty one if the file does not exist."""
    log = RunLog()
    if file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            log.add(json.loads(line))
    return log


# ---- What is missing ----------------------------------------------------------------------------


def missing_kernels(log: RunLog, kernels: Mapping[CheckedKernel, str]) -> Iterator[str]:
    """Yield a sentence for each kernel without a checked case.

    Args:
        log: the run.
        kernels: the required kernels, each with the reason.
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
    on_executors: Mapping[str, Sequence[str]],
    files: Sequence[str],
    sampled: Sequence[str] = (),
) -> list[str]:
    """Return a sentence for each gap in the log, compared to a complete check.

    Args:
        log: the run.
        kernels: the required kernels, each with the reason.
        on_executors: kernel -> its names in the table of cases on the required executors.
        sampled: the names among them for which some of the cases suffice.
        files: the test files of the repository, by their names in the ids of tests.
    """
    if log.status is None:
        where = "before the first test"
        if log.started:
            count = f"{len(log.finished)} of {_count(len(log.collected), 'test')}"
            where = f"in the middle of {log.started}, after {count}"
        return [
            f"pytest ended {where}; does a kernel, a test or the reference end the process, "
            "with exit for instance?"
        ]
    found = []
    not_run = [test for test in log.collected if test not in log.finished]
    if not_run:
        found.append(
            f"{len(not_run)} of {_count(len(log.collected), 'test')} did not run, the first is "
            f"{not_run[0]}; which option of pytest (in pytest.ini, PYTEST_ADDOPTS or conftest.py) "
            "deselects it?"
        )
    known = {test.partition("::")[0] for test in log.collected} | log.skipped_files
    for file in files:
        if file not in known:
            found.append(
                f"{file} has no test, or pytest does not collect it; write one, or delete it"
            )
    found += missing_kernels(log, kernels)
    found += _missing_on_executors(log, on_executors, sampled)
    swallowed = {
        test: name
        for test, finished in log.finished.items()
        for name, failed in finished.results
        if failed and finished.outcome == "passed"
    }
    if swallowed:
        test, kernel = next(iter(swallowed.items()))
        found.append(
            f"{_count(len(swallowed), 'test')} passed although a case failed in it, the first is "
            f"{test} on the {kernel}; does it catch what check_... raises?"
        )
    return found


def changed_outcomes(log: RunLog, status: int) -> Iterator[str]:
    """Yield a sentence if the outcome of tests, or pytest's exit status, was changed.

    Args:
        log: the run.
        status: the exit status of pytest's process.
    """
    if log.altered:
        yield (
            f"conftest.py skips, xfails or passes {_count(len(log.altered), 'test')}, the first is "
            f"{next(iter(log.altered))}; write a mark at the test instead"
        )
    failed = [test for test, finished in log.finished.items() if finished.outcome == "failed"]
    failed += log.errored
    if failed and status == 0:
        yield (
            f"{_count(len(failed), 'test')} failed, the first is {failed[0]}, but pytest's exit "
            "status is 0; what changes it, conftest.py?"
        )


def _missing_on_executors(
    log: RunLog, on_executors: Mapping[str, Sequence[str]], sampled: Sequence[str]
) -> Iterator[str]:
    total = Counter(name for finished in log.finished.values() for name in finished.kernels())
    for kernel, others in on_executors.items():
        for other in others:
            if other in sampled and total[kernel] and not total[other]:
                yield f"no case ran on the {other}"
    for test, finished in log.finished.items():
        counts = Counter(finished.kernels())
        for kernel, others in on_executors.items():
            for other in others:
                is_left_out = other in sampled and not counts[other]
                if counts[other] != counts[kernel] and not is_left_out:
                    yield (
                        f"{test} has {_count(counts[kernel], 'result')} of the {kernel}, "
                        f"but {counts[other]} of the {other}"
                    )


def constant_params(log: RunLog) -> Iterator[str]:
    """Yield a sentence for each param with one value in all cases."""
    values: dict[str, set[str]] = {}
    for test in log.finished.values():
        for params in test.params:
            for name, value in params.items():
                values.setdefault(name, set()).add(value)
    for name, found in values.items():
        if len(found) == 1:
            yield (
                f"no case has another value of param '{name}' than {found.pop()}; vary it in "
                f"tests/ with vary_params({name}=[...])"
            )


_UNNOTED = {"tolerance": 0.0, "values": 0.5}
"""Cause of weak cases -> the share of a kernel's cases that needs no note."""


def weak_cases(log: RunLog) -> tuple[list[str], list[str]]:
    """Return errors on kernels without a case that a wrong kernel fails, and notes on weak cases.

    Deliberate cases, such as a limit, have weak values; the others make up for them.
    """
    errors, notes = list[str](), list[str]()
    judged: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for test, finished in log.finished.items():
        for kernel, output, cause, reason in finished.strengths:
            judged.setdefault((kernel, output), []).append((cause, reason, test))
    for (kernel, _), cases in judged.items():
        are_all_weak = all(cause for cause, _, _ in cases)
        for cause, share in _UNNOTED.items():
            weak = [(reason, test) for each, reason, test in cases if each == cause]
            if len(weak) > share * len(cases):
                reason, test = weak[0]
                (errors if are_all_weak else notes).append(
                    f"a wrong {kernel} passes {len(weak)} of {_count(len(cases), 'case')}, and "
                    f"shows on the board only: in {test}, {reason}"
                )
    return errors, notes


def not_checked(log: RunLog) -> str:
    """Return a line with the skipped tests, and each kernel without a tenth of its cases.

    It is empty if there is none; pytest's summary has the reasons of all cases that are left out.
    """
    left_out = Counter(name for test in log.finished.values() for name in test.left_out)
    total = Counter(name for test in log.finished.values() for name in test.kernels())
    parts = [
        f"{count} of {_count(total[name], 'case')} left out on {name}"
        for name, count in left_out.items()
        if count * 10 > total[name]
    ]
    for outcome in ("skipped", "xfailed"):
        count = sum(test.outcome == outcome for test in log.finished.values())
        parts += [f"{_count(count, 'test')} {outcome}"] if count else []
    parts += [f"{file} skipped" for file in sorted(log.skipped_files)]
    return "; ".join(parts)


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
