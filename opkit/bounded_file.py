"""Reads files named by a user, up to a maximum size."""

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
        problem: the reason, without the path.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.problem = problem


def read(path: Path, expected: str, max_bytes: int = MAX_BYTES) -> bytes:
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
