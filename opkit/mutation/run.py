"""Run a plan: find changes, try them, and report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from opkit import runtimes
from opkit.check.checking import TIME_LIMIT
from opkit.check.session import LOG, Session
from opkit.errors import OpkitError
from opkit.mutation import changes, choice, report, syntax_tree
from opkit.mutation.changes import Change
from opkit.mutation.copies import Copy, copy_repository
from opkit.mutation.plan import Plan
from opkit.mutation.sources import ComputeHeader, MutableSource
from opkit.mutation.trials import Trials, code_digest, passes, try_changes
from opkit.scratch import scratch_folder

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
        sources += runtime.check.mutable_sources(spec)
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
            {source.path: code_digest(source.build(copies[0].root)) for source in sources},
            Session(log=LOG, quick=True, time_limit=limit),
        )
        order = _changes(sources, repository, originals)
        results = try_changes(order, plan.count, copies, trials.outcome, kill)
    return report.report(results, plan.count)


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


def _changes(
    sources: Sequence[MutableSource], repository: Path, originals: Mapping[str, bytes]
) -> Iterator[Change]:
    """Return all changes of the sources, in the order of the trials."""
    found = []
    for source in sources:
        tree = syntax_tree.read(source.tree(repository), source.path)
        found += changes.changes(tree, originals[source.path], source.path, source.root)
    return choice.ordered(found, b"".join(originals.values()))
