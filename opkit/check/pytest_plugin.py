"""pytest plugin of an operator repository: builds before the tests, prints a table after them.

`pytest.ini` loads it. It keeps a bare `pytest` from testing a library older than its sources, and
from passing without a case. `scons check` has built already; it passes its session with
--opkit-session, and reads the log of this plugin.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Generator, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from opkit.check import run_log
from opkit.check.cases import Case
from opkit.check.mistakes import REPOSITORY, CheckError, user_message
from opkit.check.operators import operator_of
from opkit.check.results import (
    PassedRun,
    Result,
    RunningTest,
    error_text,
    running,
    time_text,
    ulp_text,
)
from opkit.check.run_log import RunLog
from opkit.check.session import Session, repository_of
from opkit.check.shared_process import check_shared_process
from opkit.errors import OpkitError
from opkit.runtimes import expected_kernels
from opkit.toolchains import zig

_LINE = 80  # characters of a line of the table
_MIN_CASE_WIDTH = 16
_OPTION = "--opkit-session"
_PROPERTY = "opkit"
_INTEGER_INPUT = "opkit_integer_input"
_SESSION = pytest.StashKey[Session]()
_PASSED = pytest.StashKey[list[PassedRun]]()
_SHARED_PROCESS = "[in one process]"  # in place of a test's parameters


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the session of `scons check`."""
    parser.getgroup("opkit").addoption(
        _OPTION, metavar="FILE", help="written by `scons check`, which has built before"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the session, and start the log."""
    zig.provide_cache(os.environ, REPOSITORY / "build/zig-cache")
    file = config.getoption(_OPTION)
    session = Session.read(Path(file)) if file else Session()
    config.stash[_SESSION] = session
    config.stash[_PASSED] = []
    config.pluginmanager.register(_Logger(config, session.log), "opkit-log")


def _is_worker(config: pytest.Config) -> bool:
    """Return whether this is a worker of pytest-xdist, which reports to the controller."""
    return hasattr(config, "workerinput")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Build the library for this PC if tests will run and it is not built; load the operator."""
    config = session.config
    if _is_worker(config):
        return
    if not config.getoption(_OPTION) and not config.option.collectonly:
        problem = build(REPOSITORY)
        if problem:
            pytest.exit(f"`scons target=x64` failed:\n{problem}", returncode=1)
    try:
        _ = operator_of(REPOSITORY).reference.module  # reports an import error once
    except OpkitError as error:
        raise pytest.UsageError(str(error)) from None


def build(root: Path) -> str:
    """Run `scons target=x64` in a repository; return its output if it failed, else ''."""
    run = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q", "-s", "target=x64"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return "" if run.returncode == 0 else run.stdout.strip() or f"exit status {run.returncode}"


# ---- Collecting ----------------------------------------------------------------------------------


class _TestFile(pytest.Module):
    """A file of tests/; its error is one message, without a traceback through opkit."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        try:
            return super().collect()
        except (Exception, SystemExit) as error:
            # pytest itself raises a CollectError when it cannot import the file.
            cause = error.__cause__ if isinstance(error, self.CollectError) else error
            message = user_message(cause, REPOSITORY) if cause else ""
            if not message:
                raise
            raise self.CollectError(message) from None


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    """Return the collector of a test file."""
    module: pytest.Module = _TestFile.from_parent(parent, path=module_path)
    return module


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Refuse cases that do not match op.yml, once, before any case runs."""
    collected = yield
    items = collected if isinstance(collected, list) else [collected]
    errors = dict.fromkeys(_case_errors(repository_of(collector.path), items))
    if errors:
        raise collector.CollectError("\n".join(errors))
    return collected


def _case_errors(root: Path, items: Iterable[Any]) -> Iterator[str]:
    operator = operator_of(root)
    for item in items:
        parameters = getattr(item, "callspec", None)
        for case in parameters.params.values() if parameters else ():
            if isinstance(case, Case):
                try:
                    operator.check(case)
                except CheckError as error:
                    yield str(error)


# ---- Running -------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Attach the results of a test to its report, which reaches other processes."""
    function = getattr(item, "originalname", item.name)
    root = repository_of(item.path)
    session = item.config.stash[_SESSION]
    if root != REPOSITORY:  # another operator's test: no executor has its kernel
        session = replace(session, executors=(), simulators=())
    test = RunningTest(session, root, function)
    try:
        with running(test):
            return (yield)
    finally:
        item.user_properties += [(_PROPERTY, asdict(result)) for result in test.results]
        item.user_properties += [(_INTEGER_INPUT, pair) for pair in test.integer_inputs]
        item.config.stash[_PASSED] += test.passed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """After the last test of a function, run the passed cases of its tests in one process."""
    result = yield
    if nextitem is None or _function(nextitem) != _function(item):
        passed = item.config.stash[_PASSED]
        item.config.stash[_PASSED] = []
        if problems := check_shared_process(passed):
            # Of the last test, because pytest-xdist knows no others; its own result stays.
            report = pytest.TestReport(
                nodeid=item.nodeid,
                location=(*item.location[:2], item.location[2].partition("[")[0] + _SHARED_PROCESS),
                keywords={},
                outcome="failed",
                longrepr="\n".join(problems),
                when="teardown",
            )
            item.ihook.pytest_runtest_logreport(report=report)
    return result


def _function(item: pytest.Item) -> str:
    """Return the id of a test's function, without parameters."""
    return item.nodeid.partition("[")[0]


def _results(report: Any) -> list[Result]:
    return [Result(**value) for name, value in report.user_properties if name == _PROPERTY]


class _Logger:
    """Logs the run; fails a complete run without a checked case.

    Args:
        config: pytest's configuration.
        file: the log for `scons check`; None: no log.
    """

    def __init__(self, config: pytest.Config, file: Path | None) -> None:
        self.config = config
        self.file = file
        self.log = RunLog()
        self.missing: list[str] = []

    def add(self, **line: Any) -> None:
        """Add a line to the log."""
        self.log.add(line)
        if self.file is not None:
            run_log.append(self.file, line)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Log a test; an option may deselect it later."""
        self.add(collected=item.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Log a file that skips itself.

        Only the workers of pytest-xdist collect, so files and tests may be logged several times.
        """
        if report.skipped:
            self.add(skipped=report.nodeid)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Log the start of a test, which may not finish."""
        if not _is_worker(self.config):
            self.add(started=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Log the outcome of a test."""
        is_last = report.when == "call" or (report.when == "setup" and not report.passed)
        if is_last and not _is_worker(self.config):
            outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
            results = _results(report)
            ran = [(each.kernel, bool(each.problem)) for each in results if not each.left_out]
            left_out = [each.kernel for each in results if each.left_out]
            self.add(finished=report.nodeid, outcome=outcome, results=ran, left_out=left_out)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Log the end of the run."""
        if _is_worker(self.config):
            return
        if self.file is None and self._is_complete_run(session):
            self.missing += run_log.missing_kernels(
                self.log, expected_kernels(operator_of(REPOSITORY).spec)
            )
            if self.missing and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self.add(complete=int(session.exitstatus))

    def _is_complete_run(self, session: pytest.Session) -> bool:
        """Return whether all tests ran and passed; arguments of a bare pytest may select a few."""
        passed = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        is_whole = self.config.args_source is not pytest.Config.ArgsSource.ARGS
        return passed and is_whole and self.log.collected.keys() == self.log.finished.keys()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print an error for each missing kernel."""
        for sentence in self.missing:
            terminalreporter.write_line(f"error: {sentence}", red=True)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table of cases and its notes."""
    log = terminalreporter.config.stash[_SESSION].log
    # With several processes, tests end in another order than they were collected.
    order = {test: index for index, test in enumerate(run_log.read(log).collected if log else ())}

    def position(report: Any) -> int:
        return order.get(getattr(report, "nodeid", ""), 0)

    reports = [
        report
        for outcome in ("passed", "failed")
        for report in sorted(terminalreporter.stats.get(outcome, ()), key=position)
        if getattr(report, "when", "") == "call"
    ]
    results = [result for report in reports for result in _results(report)]
    ran = [result for result in results if not result.left_out]
    if ran:
        terminalreporter.section("kernels against their reference")
        for line in table(ran):
            terminalreporter.write_line(line)
    properties = [pair for report in reports for pair in report.user_properties]
    integers = dict.fromkeys(tuple(pair) for name, pair in properties if name == _INTEGER_INPUT)
    for reality in dict.fromkeys(text for _, text in integers):
        inputs = ", ".join(input_ for input_, text in integers if text == reality)
        terminalreporter.write_line(f"note: cases have integer inputs ({inputs}), but {reality}")
    for note in dict.fromkeys(result.note for result in results if result.note):
        terminalreporter.write_line(f"note: {note}")


def table(results: Iterable[Result]) -> list[str]:
    """Return the lines of a table: kernel, case, largest error, the same in ulp, time.

    The name of a case wraps at 80 characters.
    """
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
    kernel_width, case_width, *widths = (
        max(map(len, column)) for column in zip(*rows, strict=True)
    )
    available = _LINE - kernel_width - sum(widths) - 2 * len(widths) - 2
    case_width = min(case_width, max(available, _MIN_CASE_WIDTH))
    lines = []
    for kernel, case, *numbers in rows:
        first, *others = textwrap.wrap(case, case_width)
        cells = [cell.rjust(width) for cell, width in zip(numbers, widths, strict=True)]
        lines.append("  ".join([kernel.ljust(kernel_width), first.ljust(case_width), *cells]))
        lines += [f"{'':{kernel_width}}  {other}" for other in others]
    return lines
