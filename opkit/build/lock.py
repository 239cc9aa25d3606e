"""The lock of a repository, by which a second `scons` waits for the first.

The compilers and the check hold it too, so that what a killed `scons` has left behind does not
write into the files of the next.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from opkit import locks
from opkit.errors import OpkitError

PATH = Path("build/.lock")


def acquire(root: Path) -> int:
    """Wait until no other process builds in a repository.

    Returns:
        The open file that is the lock; it is freed when it is closed.

    Raises:
        OpkitError: nothing can be written in the repository.
    """
    path = root / PATH
    while True:
        try:
            path.parent.mkdir(exist_ok=True)
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            with suppress(OSError):  # a file system without locks
                _wait(lock)
            os.ftruncate(lock, 0)
            os.pwrite(lock, b"%d\n" % os.getpid(), 0)
            if locks.is_at(lock, path):
                return lock
        except OSError as error:
            raise OpkitError(f"{path}: cannot be written: {error.strerror}") from None
        os.close(lock)


def _wait(lock: int) -> None:
    if not locks.try_lock(lock):
        holder = os.pread(lock, 32, 0).decode(errors="replace").strip()
        print(
            f"waiting for another scons in this repository (pid {holder})",
            file=sys.stderr,
            flush=True,
        )
        locks.lock(lock)
