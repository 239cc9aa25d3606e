"""Atomic writes: a file is complete at every moment."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Replace a file's content in one step; an interruption leaves the old content.

    Two processes must not write the same file at once; see locks.

    Raises:
        OSError: the file cannot be written.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except BaseException:  # Ctrl-C, too
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
