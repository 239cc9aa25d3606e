"""What the running test of a pytest session has, that its calls of `check_...` are not told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from opkit.check.executors import Executor
from opkit.check.results import Result

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class RunningTest:
    """A test while it runs.

    Attributes:
        root: the repository that it belongs to.
        executors: where its kernel runs besides this PC.
        results: of the kernels that it has checked so far.
    """

    root: Path = REPOSITORY
    executors: Sequence[Executor] = ()
    results: list[Result] = field(default_factory=list)


_running: ContextVar[RunningTest | None] = ContextVar("running_test", default=None)


def running_test() -> RunningTest:
    """Return the test that runs; outside of a session, one of this repository."""
    return _running.get() or RunningTest()


@contextmanager
def running(test: RunningTest) -> Iterator[RunningTest]:
    """Make this the running test, as long as the context lasts."""
    token = _running.set(test)
    try:
        yield test
    finally:
        _running.reset(token)


def repository_of(path: Path) -> Path:
    """Return the operator repository that a test's file is in; this one if it is in none."""
    return next((folder for folder in path.parents if (folder / "op.yml").is_file()), REPOSITORY)
