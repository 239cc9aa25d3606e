"""Deletes bytecode that may be stale.

Python matches bytecode to a source by whole seconds and size, in which a file may change twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

_HASHED = b"\1"  # the first byte of the flags: matched by the source's hash, as in PEP 552


def discard_bytecode(root: Path) -> None:
    """Delete a repository's bytecode, except for that matched by a hash.

    Args:
        root: the repository; its build/, hidden folders and virtual environments are left.
    """
    for folder in _folders(root):
        for file in Path(cache_from_source(str(folder / "_.py"))).parent.glob("*.pyc"):
            with suppress(OSError):  # of another user, or deleted by another process
                if not _is_hashed(file):
                    file.unlink()


def _is_hashed(file: Path) -> bool:
    with file.open("rb") as content:
        content.seek(4)  # after the magic number
        return content.read(1) >= _HASHED


def _folders(root: Path) -> Iterator[Path]:
    """Yield the folders of a repository that may hold its Python files."""
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = [
            name
            for name in subfolders
            if not name.startswith((".", "__pycache__"))
            and not (folder == str(root) and name == "build")
            and not Path(folder, name, "pyvenv.cfg").exists()
        ]
        if any(name.endswith(".py") for name in files):
            yield Path(folder)
