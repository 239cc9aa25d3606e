"""Locks on files and folders.

The system frees a lock when the last process that holds it ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """Open a folder, to lock it; the end of the context frees the lock.

    Raises:
        OSError: it is not a folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Lock what is open unless another process has; return whether it is locked.

    Raises:
        OSError: the file system has no locks.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock(descriptor: int) -> None:
    """Lock what is open, once no other process has.

    Raises:
        OSError: the file system has no locks.
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def is_at(descriptor: int, path: Path) -> bool:
    """Whether what is open is still at its place: it may have been deleted or renamed meanwhile."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
