"""The state of SCons in `build/`: the lock of the repository, and the signatures of built files.

A second `scons` waits for the first. The compilers and the check hold the lock, too: processes of a
killed `scons` that still run cannot write into the files of the next. SCons' own module for the
signatures fails with a traceback if the disk is full.
"""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.repository_files import refuse_links

LOCK = Path("build/.lock")


def acquire_lock(root: Path) -> int:
    """Wait until no other process builds in a repository.

    Returns:
        The open file of the lock; closing it releases the lock.

    Raises:
        OpkitError: the lock file cannot be written, or is a link.
    """
    refuse_links(root, LOCK)
    path = root / LOCK
    while True:
        try:
            path.parent.mkdir(exist_ok=True)
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            with suppress(OSError):  # a file system without locks
                _wait(lock)
            os.ftruncate(lock, 0)
            os.pwrite(lock, b"%d\n" % os.getpid(), 0)
            if file_io.is_at(lock, path):
                return lock
        except OSError as error:
            raise OpkitError(f"{path}: cannot be written: {error.strerror}") from None
        os.close(lock)


def _wait(lock: int) -> None:
    if not file_io.try_lock(lock):
        holder = os.pread(lock, 32, 0).decode(errors="replace").strip()
        print(
            f"waiting for another scons in this repository (pid {holder})",
            file=sys.stderr,
            flush=True,
        )
        file_io.lock(lock)


SIGNATURES = Path("build/.sconsign")


class Signatures(dict[str, bytes]):
    """Folder -> the signatures in it; see SCons.SConsign.

    Args:
        path: the file. If it cannot be read, everything is built again.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        with suppress(Exception):  # unpickling a damaged file raises any exception
            self.update(pickle.loads(path.read_bytes()))

    def sync(self) -> None:
        """Write the file atomically, or end SCons with a message."""
        try:
            file_io.write_atomically(self._path, pickle.dumps(dict(self)))
        except OSError as error:
            print(f"error: {self._path}: cannot be written: {error.strerror}", file=sys.stderr)
            sys.exit(2)


@dataclass(frozen=True)
class Database:
    """SCons' database module for the file.

    Attributes:
        kept: whether the file stays while SCons runs. Otherwise a killed SCons leaves none: its
            signatures would be older than the built files.
    """

    kept: bool

    def open(self, path: str, mode: str) -> Signatures:
        """Return the signatures in a file."""
        signatures = Signatures(Path(path))
        if not self.kept:
            Path(path).unlink(missing_ok=True)
        return signatures
