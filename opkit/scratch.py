"""Folders for a moment, which do not stay even if the process is killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = ".scratch-"


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Make a folder inside of another, which is made if need be; delete it at the end.

    Each is locked by the process that has it, and the system frees the locks of those that died:
    what these have left is deleted too.

    Raises:
        OSError: it cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    with _opened(parent) as all_of_them:
        _lock(all_of_them, fcntl.LOCK_EX)  # else a new one could be taken for one that was left
        for left in parent.glob(f"{_PREFIX}*"):
            _delete_if_left(left)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent.absolute()))
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        _lock(lock, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _delete_if_left(folder: Path) -> None:
    with suppress(FileNotFoundError), _opened(folder) as lock:  # its process may be deleting it
        if _lock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, operation: int) -> bool:
    """Lock what is open; return whether that succeeded: there are file systems without locks."""
    try:
        fcntl.flock(descriptor, operation)
    except OSError:
        return False
    return True
