"""Try changes: build each in a copy of the repository, and run the cases there."""

from __future__ import annotations

import hashlib
import os
import queue
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from pathlib import Path
from typing import Any

from opkit.check import run_log
from opkit.check.child_processes import kill_marked
from opkit.check.session import FILE, LOG, Session, command
from opkit.common.errors import OpkitError
from opkit.mutation.mutants import Change
from opkit.mutation.plan import MutableSource

_BUILD = "build"


@dataclass(frozen=True)
class Copy:
    """A copy of a repository, with links to its built files.

    Attributes:
        root: the copy.
        repository: the repository, with an absolute path.
        originals: path -> content of the mutable sources.
        built: the paths of the built files.
    """

    root: Path
    repository: Path
    originals: Mapping[str, bytes]
    built: Iterable[str]

    def reset(self) -> None:
        """Undo all changes of sources and built files."""
        for path, content in self.originals.items():
            (self.root / path).write_bytes(content)
        for path in self.built:
            link = self.root / path
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(self.repository / path)


def copy_repository(repository: Path, folder: Path) -> None:
    """Copy a repository without build/, virtual environments and hidden folders."""
    for path in _files(repository):
        target = folder / path.relative_to(repository)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            target.symlink_to(path.resolve())
        elif path.is_file():
            shutil.copy(path, target)


def _files(repository: Path) -> Iterator[Path]:
    """Yield the files of a repository, and links to folders."""
    for here, folders, files in os.walk(repository):
        entries = [Path(here, name) for name in (*folders, *files)]
        yield from (path for path in entries if path.is_symlink() or path.is_file())
        folders[:] = [name for name in folders if _is_copied(repository, Path(here, name))]


def _is_copied(repository: Path, folder: Path) -> bool:
    is_build = folder == repository / _BUILD
    is_environment = (folder / "pyvenv.cfg").exists()
    return not is_build and not is_environment and not folder.name.startswith(".")


_MARK = "OPKIT_MUTATION"


class Outcome(Enum):
    """The outcome of a change."""

    NOTICED = auto()
    LIVES = auto()
    SAME_CODE = auto()
    DOES_NOT_COMPILE = auto()


COUNTED = (Outcome.NOTICED, Outcome.LIVES)


@dataclass(frozen=True)
class Trials:
    """The common inputs of all trials.

    Attributes:
        sources: path -> mutable source.
        code: path -> the digest of the code of the unchanged source.
        session: the session of the cases.
    """

    sources: Mapping[str, MutableSource]
    code: Mapping[str, bytes]
    session: Session

    def outcome(self, change: Change, copy: Copy) -> Outcome:
        """Return the outcome of a change, tried in a copy."""
        copy.reset()
        source = copy.root / change.file
        source.write_bytes(change.apply(copy.originals[change.file]))
        try:
            built = self.sources[change.file].build(copy.root)
        except OpkitError:
            return Outcome.DOES_NOT_COMPILE
        if code_digest(built) == self.code[change.file]:
            return Outcome.SAME_CODE
        return Outcome.LIVES if passes(copy.root, self.session) else Outcome.NOTICED


def passes(repository: Path, session: Session) -> bool:
    """Run the cases until one fails; return whether all pass."""
    (repository / LOG).unlink(missing_ok=True)
    session.write(repository / FILE)
    run = subprocess.run(
        [*command(), "-x"],
        cwd=repository,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    log = run_log.read(repository / LOG)
    return run.returncode == 0 and not run_log.missing(log, {}, {}, ())


def code_digest(libraries: Iterable[Path]) -> bytes:
    """Return a digest of the loaded sections of libraries, without debug information."""
    from elftools.elf.constants import SH_FLAGS
    from elftools.elf.elffile import ELFFile

    digest = hashlib.sha256()
    for library in libraries:
        with library.open("rb") as file:
            for section in ELFFile(file).iter_sections():
                if section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
                    digest.update(section.name.encode() + b"\0" + section.data())
    return digest.digest()


def try_changes(
    changes: Iterator[Change],
    count: int,
    copies: Sequence[Copy],
    outcome: Callable[[Change, Copy], Outcome],
    kill: Callable[[], None],
) -> list[tuple[Change, Outcome]]:
    """Try changes, one in each copy at a time.

    Args:
        changes: the changes, in order.
        count: the count of changes to try that compile to other code.
        copies: the copies of the repository.
        outcome: tries a change in a copy.
        kill: kills the processes of all trials.

    Returns:
        The first changes and their outcomes; the same for any count of copies.
    """
    free = queue.SimpleQueue[Copy]()
    for copy in copies:
        free.put(copy)

    def attempt(change: Change) -> tuple[Change, Outcome]:
        copy = free.get()
        try:
            return change, outcome(change, copy)
        finally:
            free.put(copy)

    results = []
    with _threads(len(copies), kill) as submit:
        pending = [submit(attempt, change) for change in islice(changes, count)]
        for future in pending:
            results.append(future.result())
            if results[-1][1] not in COUNTED:
                pending += [submit(attempt, change) for change in islice(changes, 1)]
    return results


@contextmanager
def killing_children() -> Iterator[Callable[[], None]]:
    """Yield a function that kills the processes started in this context; its end does so too."""
    value = secrets.token_hex(8)
    os.environ[_MARK] = value

    def kill() -> None:
        kill_marked(f"{_MARK}={value}", but=os.getpid())

    try:
        yield kill
    finally:
        kill()
        del os.environ[_MARK]


@contextmanager
def _threads(workers: int, kill: Callable[[], None]) -> Iterator[Callable[..., Future[Any]]]:
    """Yield a function that runs another in a thread; the end of the context stops all threads.

    Args:
        workers: the count of threads.
        kill: kills the processes that the functions wait for.
    """
    pending: list[Future[Any]] = []
    pool = ThreadPoolExecutor(workers)

    def submit(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        pending.append(pool.submit(function, *arguments))
        return pending[-1]

    try:
        yield submit
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        while not all(future.done() for future in pending):
            kill()
            time.sleep(0.02)
