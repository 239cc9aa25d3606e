"""Reads files that a user names, and that need not be what they should be."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from opkit.errors import OpkitError

MAX_BYTES = 256 * 1024 * 1024
"""A thousand times the size of a large library."""


class FileError(OpkitError):
    """A file cannot be read."""


def read(path: Path, expected: str) -> bytes:
    """Return all of a file of at most MAX_BYTES.

    A device or a pipe is not read, because it may have no end; nor is one waited for.

    Args:
        path: the file.
        expected: what it should be, for messages, such as `a library`.

    Raises:
        FileError: it cannot be read, is not a regular file, or is too large.
    """
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise FileError(f"{path}: is a device or a pipe, not a file (expected {expected})")
            data = b"" if status.st_size > MAX_BYTES else file.read(MAX_BYTES + 1)
            size = max(status.st_size, len(data))
    except IsADirectoryError:
        raise FileError(f"{path}: is a folder, not a file (expected {expected})") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    if size > MAX_BYTES:
        limit = f"at most {MAX_BYTES:,} bytes"
        raise FileError(f"{path}: has {size:,} bytes (expected {expected} of {limit})")
    return data
