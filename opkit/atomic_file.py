"""Writes files that are complete at every moment."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Replace a file's content in one step; an interruption leaves the content before.

    Of two processes that write a file, one has to wait for the other; see locks.

    Raises:
        OSError: it cannot be written.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
