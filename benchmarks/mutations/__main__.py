"""Change the project's code a little, and count the changes that no test notices.

    nice python -m benchmarks.mutations --count 300 --seed 1 --output benchmarks
    python -m benchmarks.mutations --only rknn_op/models --tests tests/models --count 50
    python -m benchmarks.mutations --count 168 --seed 3 --list

Each change is tried in a copy of the project: by the tests that reach its lines, the quickest ones
first, until one fails, then by the other tests of its folder. A first run of the tests records the
lines that they reach; build/mutations keeps it until the code or the tests change. What coverage
does not see (C, templates) has the tests of its folder, by folders.py. With --list, the changes are
printed alone, for tests that a person chooses.
The work tree stays as it is. The same seed gives the same changes in the same order.
Python is changed by `ast`, C by clang, as by `scons check mutate=`. Existing tools do not fit:
mutmut calls changed functions in its own process, and cosmic-ray has one test command for all
modules; here, much of the code runs in processes of generated repositories.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from benchmarks import results_file
from benchmarks.mutations import c_changes, python_changes
from benchmarks.mutations.copies import copied, run_tests
from benchmarks.mutations.folders import folder_tests
from benchmarks.mutations.outcomes import Outcomes
from benchmarks.mutations.reach import Record, recorded
from opkit.common.errors import OpkitError
from opkit.mutation.mutants import Change
from opkit.mutation.run import lines, ordered
from opkit.mutation.trials import COUNTED, Outcome, killing_children

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "build/mutations"
COMMAND = "python -m benchmarks.mutations"
FOLDERS = ("opkit", "rknn_op")
# OpenCL C, interfaces without code, and a program that includes generated headers.
_LEFT_OUT = {"declarations", "prelude", "include", "application"}
_TIMEOUT = 4  # times the tests' time without a change
_MIN_TIMEOUT = 120.0  # seconds: a change of the harness compiles it anew, on a busy PC

Results = Sequence[tuple[Change, Outcome]]


def sources(only: Sequence[str] = ()) -> list[str]:
    """Return the paths of the sources to change.

    Args:
        only: the beginnings of their paths; empty: all.
    """
    paths = [
        path.relative_to(ROOT)
        for folder in FOLDERS
        for suffix in ("py", "c", "h")
        for path in (ROOT / folder).rglob(f"*.{suffix}")
    ]
    names = [
        path.as_posix()
        for path in paths
        if _LEFT_OUT.isdisjoint(path.parts)
        and (path.suffix == ".py" or path.parent.name != "templates")
    ]
    return sorted(name for name in names if not only or name.startswith(tuple(only)))


def changes(path: str) -> list[Change]:
    """Return all changes of a source; none of a template that is a part of a Python file."""
    if not path.endswith(".py"):
        return c_changes.changes(ROOT, path)
    try:
        return python_changes.changes((ROOT / path).read_bytes(), path)
    except SyntaxError:
        return []


def in_order(tests: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    """Return tests, the quickest first, but another parameter of a function after all functions.

    Args:
        tests: the names of the tests.
        seconds: test -> its time.
    """
    ranks = Counter[str]()
    order = []
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        function = test.partition("[")[0]
        order.append((ranks[function], test))
        ranks[function] += 1
    return [test for _, test in sorted(order, key=lambda item: item[0])]


@contextmanager
def changed(copy: Path, change: Change) -> Iterator[None]:
    """Make a change in a copy of the project; take it back at the end."""
    source = copy / change.file
    original = source.read_bytes()
    source.write_bytes(change.apply(original))
    try:
        yield
    finally:
        source.write_bytes(original)


def untried(copy: Path, change: Change) -> Outcome | None:
    """Return the outcome of a change that no test has to try, if it is one."""
    if not change.file.endswith(".c"):  # a header's functions have no code of their own
        return None
    code = c_changes.compiled(copy, change.file)
    with changed(copy, change):
        other = c_changes.compiled(copy, change.file)
    if other is None:
        return Outcome.DOES_NOT_COMPILE
    return Outcome.SAME_CODE if other == code else None


class Trials:
    """Tries changes in a copy of the project.

    Args:
        copy: the copy.
        record: the tests of the copy without a change.
        kill: kills the processes of a trial.
        seconds: the longest time of the tests of a change, the quickest ones first.
    """

    def __init__(
        self, copy: Path, record: Record, kill: Callable[[], None], seconds: float
    ) -> None:
        self.copy = copy
        self.record = record
        self.kill = kill
        self.seconds = seconds
        self._passing = set[str]()

    def outcome(self, change: Change) -> tuple[Outcome, str]:
        """Return the outcome of a change, and the test that notices it.

        Raises:
            OpkitError: the tests cannot be collected without a change.
        """
        if outcome := untried(self.copy, change):
            return outcome, ""
        for tests in self._stages(change):
            with changed(self.copy, change):
                try:
                    outcomes = self._run(tests)
                finally:
                    self.kill()
            if test := next(iter(outcomes.failed), ""):
                if self._passes_alone(test):
                    return Outcome.NOTICED, test
                del self.record.outcomes.seconds[test]
                return self.outcome(change)
            if outcomes.status:
                self._assert_collected(tests)
                return Outcome.NOTICED, "a timeout" if outcomes.status < 0 else "no collection"
        return Outcome.LIVES, ""

    def _stages(self, change: Change) -> Iterator[list[str]]:
        """Yield the reaching tests, then the others of the folder, both in the order of a run."""
        times = self.record.outcomes.seconds
        rest = self.seconds
        done = set[str]()
        original = (self.copy / change.file).read_bytes()
        begin, end = (original[:place].count(b"\n") + 1 for place in change.span)
        reaching = self.record.reaching(change.file, range(begin, end + 1))
        for group in (reaching, *map(self._within, folder_tests(change.file))):
            stage = []
            for test in in_order(group - done, times):
                if times[test] > rest:
                    break
                rest -= times[test]
                stage.append(test)
            done |= group
            if stage:
                yield stage

    def _within(self, path: str) -> set[str]:
        """Return the tests of a file or a folder."""
        beginnings = (f"{path}::", f"{path}/")
        return {test for test in self.record.outcomes.seconds if test.startswith(beginnings)}

    def _run(self, tests: Sequence[str]) -> Outcomes:
        times = self.record.outcomes.seconds
        limit = _MIN_TIMEOUT + _TIMEOUT * sum(times[test] for test in tests)
        # One after the other: a failure ends the run before a slower test begins.
        return run_tests(self.copy, tests, ("-x", "-n", "0", "-m", ""), limit)

    def _passes_alone(self, test: str) -> bool:
        """Return whether a test passes without a change, and not only among others."""
        if test not in self._passing and test in self._run([test]).seconds:
            self._passing.add(test)
        return test in self._passing

    def _assert_collected(self, tests: Sequence[str]) -> None:
        options = ("-n", "0", "-m", "", "--collect-only")
        if run_tests(self.copy, tests, options).status:
            raise OpkitError(f"cannot be collected without a change: {' '.join(tests)}")


def try_changes(
    order: Iterator[Change], count: int, trials: Trials
) -> Iterator[tuple[Change, Outcome, str]]:
    """Try changes until `count` of them have other code; yield each with its outcome."""
    while count:
        change = next(order, None)
        if change is None:
            return
        outcome, test = trials.outcome(change)
        count -= outcome in COUNTED
        yield change, outcome, test


def report(results: Results) -> str:
    """Return the survivors by place, and the share of noticed changes of each folder."""
    counted = [(change, outcome) for change, outcome in results if outcome in COUNTED]
    alive = [change for change, outcome in counted if outcome is Outcome.LIVES]
    survivors = [
        line
        for change in sorted(alive, key=lambda change: (change.file, change.span))
        for line in lines(change)
    ]
    totals = Counter(_folder(change) for change, _ in counted)
    living = Counter(map(_folder, alive))
    rows = [_row(name, totals[name], living[name]) for name in sorted(totals)]
    rows.append(_row("all", len(counted), len(alive)))
    table = results_file.table(["folder", "changes", "noticed", "share"], rows)
    return "\n".join([table, "", *(f"    {line}" for line in survivors)])


def _row(name: str, total: int, alive: int) -> list[str]:
    share = f"{100 * (total - alive) / total:.0f} %" if total else "-"
    return [name, f"{total}", f"{total - alive}", share]


def _folder(change: Change) -> str:
    return "/".join(change.file.split("/")[:-1][:3])


def _summary(record: Record) -> str:
    outcomes = record.outcomes
    failed = "".join(f"\n    {test}" for test in outcomes.failed)
    left_out = f"; {len(outcomes.failed)} fail without a change:{failed}" if failed else ""
    return f"{len(outcomes.seconds)} tests pass{left_out}"


def main() -> None:
    """Parse the command line, try the changes, and print the survivors."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="of changes to try")
    parser.add_argument("--seed", default="0", help="of the random choice")
    parser.add_argument("--only", action="append", default=[], help="the beginning of a path")
    parser.add_argument("--tests", action="append", help="a file or folder of tests to run")
    parser.add_argument("--slow", action="store_true", help="run slow tests, too")
    parser.add_argument("--list", action="store_true", help="print the changes without a trial")
    parser.add_argument("--seconds", type=float, default=600, help="of tests for a change")
    parser.add_argument("--records", type=Path, default=RECORDS, help="the folder of the records")
    parser.add_argument("--output", type=Path, help="the folder of RESULTS.md to write into")
    options = parser.parse_args()
    found = [change for path in sources(options.only) for change in changes(path)]
    order = ordered(found, options.seed.encode())
    results = []
    with killing_children() as kill, copied(ROOT) as copy:
        if options.list:
            tried = (change for change in order if not untried(copy, change))
            for change in islice(tried, options.count):
                print(" ".join(lines(change)), flush=True)
            return
        try:
            record = recorded(copy, options.tests or ["tests"], options.slow, options.records)
            print(_summary(record), flush=True)
            trials = Trials(copy, record, kill, options.seconds)
            for change, outcome, test in try_changes(order, options.count, trials):
                results.append((change, outcome))
                by = f" by {test}" if test else ""
                print(f"{outcome.name.lower()}: {' '.join(lines(change))}{by}", flush=True)
        except KeyboardInterrupt:
            print("interrupted")
        except OpkitError as error:
            print(f"error: {error}")
    text = report(results)
    print(f"\n{text}")
    if options.output:
        head = f"## Mutations\n\n    {COMMAND} --count {options.count} --seed {options.seed}\n\n"
        print(results_file.write_section(options.output, "mutations", head + text))


if __name__ == "__main__":
    main()
