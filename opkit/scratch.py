"""Temporary folders that do not stay even if the process is killed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from opkit import locks

_PREFIX = ".scratch-"


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Make a folder inside of another, which is made if need be; delete it at the end.

    Each is locked by the process that has it; those of processes that died are deleted too.

    Raises:
        OSError: it cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as own:
        with locks.opened(parent) as all_of_them:
            # Else a new folder could be taken for one that was left, before it is locked.
            _lock(all_of_them)
            for left in parent.glob(f"{_PREFIX}*"):
                _delete_if_left(left)
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent.absolute()))
            _lock(own.enter_context(locks.opened(folder)))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def whole_folder(path: Path, fill: Callable[[Path], object]) -> Path:
    """Return a folder; if absent it is made beside its place and renamed: never incomplete.

    Args:
        path: the folder. Several processes may make it at the same time.
        fill: makes its content in an empty folder.

    Raises:
        OSError: it cannot be made.
    """
    if not path.is_dir():
        with scratch_folder(path.parent) as aside:
            made = aside / path.name
            made.mkdir()
            fill(made)
            try:
                made.rename(path)
            except OSError:
                if not path.is_dir():  # else another process was faster
                    raise
    return path


def _lock(descriptor: int) -> None:
    with suppress(OSError):  # a file system without locks
        locks.lock(descriptor)


def _delete_if_left(folder: Path) -> None:
    # Its process may be deleting it; or the file system has no locks.
    with suppress(OSError), locks.opened(folder) as descriptor:
        if locks.try_lock(descriptor):
            shutil.rmtree(folder, ignore_errors=True)
