"""Keep a cache of objects below a size: delete the entries that were not used for the longest time.

An entry is an object of SCons, whose time stamp SCons renews at each use, or an unpacked opkit,
whose time stamp `rknn-op` renews.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from opkit import locks

INTERVAL = 3600
"""Seconds between two looks at the size of a cache."""
KEPT = 24 * 3600
"""Seconds for which a used entry is kept in any case: a build may be using it."""
_TARGET = 0.8
"""The part of the limit that is left after a deletion, so that the next one is not due at once."""
_FOLDERS = re.compile(r"[0-9A-F]{2}|opkit")
_MARK = ".trimmed"


class _Entry(NamedTuple):
    """A file or folder of the cache: its path, bytes, and the time of its last use."""

    path: str
    size: int
    used: float


def trim(cache: Path, limit: int, interval: float = INTERVAL) -> int:
    """Delete the oldest entries of a cache that is larger than the limit.

    One process at a time does it, and none if a process did it less than an interval ago. Other
    processes may read and write the cache meanwhile: a build makes a deleted object again.

    Args:
        cache: the folder, which several machines may share.
        limit: in bytes.
        interval: in seconds.

    Returns:
        The count of deleted bytes.

    Raises:
        OSError: the cache cannot be read or written.
    """
    mark = cache / _MARK
    if mark.exists() and time.time() - mark.stat().st_mtime < interval:
        return 0
    with locks.opened(cache) as descriptor:
        with suppress(OSError):  # a file system without locks
            if not locks.try_lock(descriptor):
                return 0
        mark.touch()
        return _delete_oldest([*_entries(cache)], limit)


def _delete_oldest(entries: list[_Entry], limit: int) -> int:
    total = sum(entry.size for entry in entries)
    if total <= limit:
        return 0
    deleted = 0
    newest = time.time() - KEPT
    for entry in sorted(entries, key=lambda each: each.used):
        if total - deleted <= limit * _TARGET or entry.used > newest:
            break
        if Path(entry.path).is_dir():
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            Path(entry.path).unlink(missing_ok=True)
        deleted += entry.size
    return deleted


def _entries(cache: Path) -> Iterator[_Entry]:
    """Yield the entries of a cache, without unfinished ones."""
    for folder in cache.iterdir():
        if not _FOLDERS.fullmatch(folder.name) or not folder.is_dir():
            continue
        with os.scandir(folder) as found:
            for each in found:
                if each.name[0] == "." or each.name.startswith("tmp"):
                    continue
                with suppress(FileNotFoundError):  # another machine may delete it meanwhile
                    stat = each.stat(follow_symlinks=False)
                    is_folder = each.is_dir(follow_symlinks=False)
                    size = folder_size(each.path) if is_folder else stat.st_size
                    yield _Entry(each.path, size, stat.st_mtime)


def folder_size(folder: str) -> int:
    """Return the size of the files in a folder, in bytes."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # builds replace files meanwhile
                total += os.lstat(f"{place}/{name}").st_size
    return total
