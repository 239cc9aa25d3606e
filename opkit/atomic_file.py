"""Writes files atomically."""

from __future__ import annotations

from contextlib import suppress
from mmap import mmap
from pathlib import Path


def write(path: Path, data: bytes | mmap) -> None:
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
