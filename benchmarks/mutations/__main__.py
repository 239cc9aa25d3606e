"""Change the project's code a little, and count the changes that no test notices.

    nice python -m benchmarks.mutations --count 300 --seed 1 --output benchmarks
    python -m benchmarks.mutations --only opkit/manifest.py --only rknn_op/upkeep --count 50

Each change is tried in a copy of the project, with the nearest tests of its source, by nearest.py.
The work tree stays as it is. The same seed gives the same changes in the same order.
Python is changed by `ast`, C by clang, as by `scons check mutate=`. Existing tools do not fit:
mutmut calls changed functions in its own process, and cosmic-ray has one test command for all
modules; here, much of the code runs in processes of generated repositories, and the nearest tests
save hours.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks import results_file
from benchmarks.mutations import c_changes, python_changes
from benchmarks.mutations.copies import copied, passes
from benchmarks.mutations.nearest import nearest
from opkit.common.errors import OpkitError
from opkit.mutation.mutants import Change
from opkit.mutation.run import lines, ordered
from opkit.mutation.trials import COUNTED, Outcome, killing_children

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "python -m benchmarks.mutations"
FOLDERS = ("opkit", "rknn_op")
# OpenCL C, and interfaces without code.
_LEFT_OUT = {"declarations", "prelude", "include"}
_TIMEOUT = 4  # times the tests' time without a change
_MIN_TIMEOUT = 30.0  # seconds, for a busy PC

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


class Trials:
    """Tries changes in a copy of the project.

    Args:
        copy: the copy.
        kill: kills the processes of a trial.
        slow: whether to run slow tests, too.
    """

    def __init__(self, copy: Path, kill: Callable[[], None], slow: bool) -> None:
        self.copy = copy
        self.kill = kill
        self.slow = slow
        self._timeouts: dict[tuple[str, ...], float] = {}

    def outcome(self, change: Change) -> Outcome:
        """Return the outcome of a change.

        Raises:
            OpkitError: the nearest tests fail without the change.
        """
        source = self.copy / change.file
        timeout = self._timeout(nearest(change.file))
        original = source.read_bytes()
        is_program = change.file.endswith(".c")
        code = c_changes.compiled(self.copy, change.file) if is_program else None
        source.write_bytes(change.apply(original))
        try:
            if is_program:
                changed = c_changes.compiled(self.copy, change.file)
                if changed in (code, None):
                    return Outcome.SAME_CODE if changed else Outcome.DOES_NOT_COMPILE
            is_alive = passes(self.copy, nearest(change.file), timeout, self.slow)
            return Outcome.LIVES if is_alive else Outcome.NOTICED
        finally:
            source.write_bytes(original)
            self.kill()

    def _timeout(self, tests: tuple[str, ...]) -> float:
        """Return the time limit of tests; run them without a change, once."""
        if tests not in self._timeouts:
            begin = time.monotonic()
            if not passes(self.copy, tests, 1800, self.slow):
                raise OpkitError(f"the tests fail without a change: {' '.join(tests)}")
            seconds = time.monotonic() - begin
            self._timeouts[tests] = _MIN_TIMEOUT + _TIMEOUT * seconds
        return self._timeouts[tests]


def try_changes(
    order: Iterator[Change], count: int, trials: Trials
) -> Iterator[tuple[Change, Outcome]]:
    """Try changes until `count` of them have other code; yield each with its outcome."""
    while count:
        change = next(order, None)
        if change is None:
            return
        outcome = trials.outcome(change)
        count -= outcome in COUNTED
        yield change, outcome


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


def main() -> None:
    """Parse the command line, try the changes, and print the survivors."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="of changes to try")
    parser.add_argument("--seed", default="0", help="of the random choice")
    parser.add_argument("--only", action="append", default=[], help="the beginning of a path")
    parser.add_argument("--slow", action="store_true", help="run slow tests, too")
    parser.add_argument("--output", type=Path, help="the folder of RESULTS.md to write into")
    options = parser.parse_args()
    found = [change for path in sources(options.only) for change in changes(path)]
    order = ordered(found, options.seed.encode())
    results = []
    with killing_children() as kill, copied(ROOT) as copy:
        trials = Trials(copy, kill, options.slow)
        try:
            for change, outcome in try_changes(order, options.count, trials):
                results.append((change, outcome))
                print(f"{outcome.name.lower()}: {' '.join(lines(change))}", flush=True)
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
