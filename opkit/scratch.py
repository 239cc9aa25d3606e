"""Temporary folders; those of killed processes are deleted, too."""

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
    """Make a temporary folder in a parent folder, and the parent if absent; delete it at the end.

    The owning process locks its folder. Unlocked folders of ended processes are deleted, too.

    Raises:
        OSError: the folder cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as own:
        with locks.opened(parent) as parent_lock:
            # Otherwise another process could delete the new folder before it is locked.
            _lock(parent_lock)
            for existing in parent.glob(f"{_PREFIX}*"):
                _delete_if_unlocked(existing)
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent.absolute()))
            _lock(own.enter_context(locks.opened(folder)))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def whole_folder(path: Path, fill: Callable[[Path], object]) -> Path:
    """Return a folder; make it if absent, under another name first, so that it is never incomplete.

    Args:
        path: the folder. Several processes may make it at the same time.
        fill: makes its content in an empty folder.

    Raises:
        OSError: the folder cannot be made.
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


def _delete_if_unlocked(folder: Path) -> None:
    # Its owner may be deleting it, or the file system has no locks.
    with suppress(OSError), locks.opened(folder) as descriptor:
        if locks.try_lock(descriptor):
            shutil.rmtree(folder, ignore_errors=True)
