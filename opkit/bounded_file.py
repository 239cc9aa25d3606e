"""Reads files that a user names, and that need not be what they should be."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from opkit.errors import OpkitError

MAX_BYTES = 256 * 1024 * 1024
"""A thousand times the size of a large library."""


class FileError(OpkitError):
    """A file cannot be read.

    Attributes:
        problem: why, without the path.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.problem = problem


def read(path: Path, expected: str, max_bytes: int = MAX_BYTES) -> bytes:
    """Return all of a file.

    A device or a pipe is not read, because it may have no end; nor is one waited for.

    Args:
        path: the file.
        expected: what it should be, for messages, such as `a library`.
        max_bytes: the size that it may have.

    Raises:
        FileError: it cannot be read, is not a regular file, or is too large.
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
