"""Run a plan: try the changes in the same order in every run, and report."""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from opkit import runtimes
from opkit.check.checking import TIME_LIMIT
from opkit.check.session import LOG, Session
from opkit.common.errors import OpkitError
from opkit.common.scratch import scratch_folder
from opkit.mutation import c_source, mutants
from opkit.mutation.mutants import Change
from opkit.mutation.plan import ComputeHeader, MutableSource, Plan
from opkit.mutation.trials import (
    COUNTED,
    Copy,
    Outcome,
    Trials,
    code_digest,
    copy_repository,
    passes,
    try_changes,
)


def ordered(changes: Iterable[Change], seed: bytes) -> Iterator[Change]:
    """Yield all changes: files and kinds in turn, and of each the line with the fewest so far.

    Args:
        changes: the changes, of several files.
        seed: the contents of the files; other contents give another order.
    """
    chance = random.Random(hashlib.sha256(seed).digest())
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.file, change.kind), []).append(change)
    for group in groups.values():
        chance.shuffle(group)
    turns = list(groups.values())
    chance.shuffle(turns)
    uses = Counter[tuple[str, int]]()
    while any(turns):
        for group in filter(None, turns):
            change = min(group, key=lambda each: uses[each.file, each.line])
            group.remove(change)
            uses[change.file, change.line] += 1
            yield change


_WIDTH = 80
_ADVICE = "Add a case that fails with such a change, unless the change makes no difference."


def report(results: Sequence[tuple[Change, Outcome]], count: int) -> str:
    """Return the text of the report.

    Args:
        results: the tried changes, and the outcome of each.
        count: the requested count of changes.
    """
    counted = [change for change, outcome in results if outcome in COUNTED]
    alive = [change for change, outcome in results if outcome is Outcome.LIVES]
    total, noticed = len(counted), len(counted) - len(alive)
    if not counted:
        return f"mutate={count}: there is nothing to change in the kernels"
    more = f"mutate={count}: there are no more than {_changes(total)}\n" if total < count else ""
    if not alive:
        return f"{more}your cases notice {'all ' if total > 1 else ''}{_changes(total)}"
    these = "this one lives" if len(alive) == 1 else f"these {len(alive)} live"
    in_order = sorted(alive, key=lambda change: (change.file, change.span))
    text = [f"your cases notice {noticed} of {_changes(total)}; {these}:"]
    text += [line for change in in_order for line in lines(change)]
    return more + "\n".join([*text, _ADVICE])


def _changes(count: int) -> str:
    return "1 change" if count == 1 else f"{count} changes"


def lines(change: Change) -> list[str]:
    """Return a change and its place in one line, or in more if it is too long."""
    place = f"{change.file}:{change.line}"
    parts = [f"`{change.before}`", f"-> `{change.after}`"]
    if not change.text:
        parts = [f"drop `{change.before}`"]
    line = " ".join([place, *parts])
    return [line] if len(line) <= _WIDTH else [place, *(_shortened(f"    {p}") for p in parts)]


def _shortened(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 4]}...`"


FOLDER = Path("build/mutation")
_MIN_TIME_LIMIT = 1.0  # seconds; for a busy PC
_FAIL_ALREADY = "the cases fail without any change; see scons check"
_FAIL_IN_COPY = (
    "the cases pass here, but not in a copy of the repository, which lacks\n"
    "hidden folders, virtual environments and unrelated files of build/"
)


def run(plan: Plan, repository: Path, kill: Callable[[], None]) -> str:
    """Try the changes of a plan; return the report.

    Args:
        plan: the plan.
        repository: the absolute path of the repository, which is built for this PC.
        kill: kills the processes of all trials.

    Raises:
        OpkitError: the cases fail without any change, or a source cannot be read.
    """
    spec = runtimes.parse((repository / "op.yml").read_text(encoding="utf-8"))
    sources: list[MutableSource] = [ComputeHeader(spec.math_file, plan)]
    for runtime in runtimes.selected(spec):
        sources += runtime.check.mutable_sources(spec, plan)
    originals = {source.path: (repository / source.path).read_bytes() for source in sources}
    with scratch_folder(repository / FOLDER) as scratch:
        copies = [
            Copy(scratch / f"{index}", repository, originals, plan.built)
            for index in range(min(plan.workers, plan.count))
        ]
        for copy in copies:
            copy_repository(repository, copy.root)
            copy.reset()
        limit = _time_limit(repository, copies[0].root)
        trials = Trials(
            {source.path: source for source in sources},
            {source.path: unchanged_code(source, copies[0].root) for source in sources},
            Session(log=LOG, quick=True, time_limit=limit),
        )
        order = _in_order(sources, repository, originals)
        results = try_changes(order, plan.count, copies, trials.outcome, kill)
    return report(results, plan.count)


def unchanged_code(source: MutableSource, repository: Path) -> bytes:
    """Return the digest of the code of a source.

    Args:
        source: a source without a change.
        repository: the repository, or a copy, in which to build it. The cases pass there.

    Raises:
        OpkitError: it does not compile, so no case runs it; the message has the first error.
    """
    try:
        return code_digest(source.build(repository))
    except OpkitError as error:
        place = re.escape(source.path) + r"(:\d+):\d+"
        found = re.search(rf"{place}: (?:fatal )?error: (.*)", str(error))
        line, problem = found.groups() if found else ("", str(error))
        raise OpkitError(
            f"{source.path}{line}: {problem}; no case runs this kernel, see scons check"
        ) from None


def _time_limit(repository: Path, copy: Path) -> float:
    """Run the cases without a change; return the time limit of a changed kernel, in seconds.

    Raises:
        OpkitError: the cases fail.
    """
    start = time.monotonic()
    if passes(copy, Session(log=LOG, quick=True)):
        return min(TIME_LIMIT, _MIN_TIME_LIMIT + time.monotonic() - start)
    if passes(repository, Session(log=LOG, quick=True)):
        raise OpkitError(_FAIL_IN_COPY)
    raise OpkitError(_FAIL_ALREADY)


def _in_order(
    sources: Sequence[MutableSource], repository: Path, originals: Mapping[str, bytes]
) -> Iterator[Change]:
    """Return all changes of the sources, in the order of the trials."""
    found = []
    for source in sources:
        tree = c_source.read(source.tree(repository), source.path)
        found += mutants.changes(tree, originals[source.path], source.path, source.root)
    return ordered(found, b"".join(originals.values()))
