"""Files that others use too: atomic writes, reads up to a maximum size, locks.

The system releases a lock when the last process that holds it ends, even if it is killed.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from mmap import mmap
from pathlib import Path

from opkit.common.errors import OpkitError


def write_atomically(path: Path, data: bytes | mmap) -> None:
    """Replace a file's content in one step; an interruption leaves the old content.

    A symbolic link is replaced, not followed. Two processes must not write the same file at once;
    see locks.

    Raises:
        OSError: the file cannot be written.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        try:
            file = beside.open("xb")  # "x" follows no link
        except FileExistsError:  # of an interrupted run, or a link
            beside.unlink()
            file = beside.open("xb")
        with file:
            file.write(data)
        beside.replace(path)
    except BaseException:  # Ctrl-C, too
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise


MAX_BYTES = 256 * 1024 * 1024
"""A thousand times the size of a large library."""


class FileError(OpkitError):
    """A file cannot be read.

    Attributes:
        problem: the reason, without the path.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.problem = problem


def read_bounded(path: Path, expected: str, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the content of a regular file.

    Devices and pipes are refused without waiting: reading them may never end.

    Args:
        path: the file.
        expected: the expected content, for messages, such as `a library`.
        max_bytes: the maximum size.

    Raises:
        FileError: the file cannot be read, is not a regular file, or is too large.
    """
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise FileError(path, f"is a device or a pipe, not a file (expected {expected})")
            data = b"" if status.st_size > max_bytes else file.read(max_bytes + 1)
            size = max(status.st_size, len(data))
    except IsADirectoryError:
        raise FileError(path, f"is a folder, not a file (expected {expected})") from None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from None
    if size > max_bytes:
        limit = f"at most {max_bytes:,} bytes"
        raise FileError(path, f"has {size:,} bytes (expected {expected} of {limit})")
    return data


@contextmanager
def opened_folder(folder: Path) -> Iterator[int]:
    """Open a folder to lock it; the end of the context releases the lock.

    Raises:
        OSError: the path is not a folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Lock an open file or folder unless another process holds it; return True on success.

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
    """Whether an open file or folder is still at its path: not deleted, renamed or replaced."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
