"""The lock of a repository: a second `scons` waits for the first.

The compilers and the check hold it, too: processes of a killed `scons` that still run cannot write
into the files of the next.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from opkit import locks
from opkit.errors import OpkitError
from opkit.repository_files import refuse_links

PATH = Path("build/.lock")


def acquire(root: Path) -> int:
    """Wait until no other process builds in a repository.

    Returns:
        The open file of the lock; closing it releases the lock.

    Raises:
        OpkitError: the lock file cannot be written, or is a link.
    """
    refuse_links(root, PATH)
    path = root / PATH
    while True:
        try:
            path.parent.mkdir(exist_ok=True)
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
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
