"""Locks on files and folders.

The system releases a lock at the end of the last process that holds it, even a killed one.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """Open a folder for locking; the end of the context releases the lock.

    Raises:
        OSError: the path is not a folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Lock an open file or folder without waiting; return False if another process holds the lock.

    Raises:
        OSError: the file system has no locks.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock(descriptor: int) -> None:
    """Lock an open file or folder; wait while another process holds the lock.

    Raises:
        OSError: the file system has no locks.
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def is_at(descriptor: int, path: Path) -> bool:
    """Return whether a path still names an open file: it may be deleted or renamed meanwhile."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
