"""Copies of a repository, in which the cases run on changed sources."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_BUILD = "build"


@dataclass(frozen=True)
class Copy:
    """A copy of a repository, with links to its built files.

    Attributes:
        root: the copy.
        repository: the repository, with an absolute path.
        originals: path -> content of the mutable sources.
        built: the paths of the built files.
    """

    root: Path
    repository: Path
    originals: Mapping[str, bytes]
    built: Iterable[str]

    def reset(self) -> None:
        """Undo all changes of sources and built files."""
        for path, content in self.originals.items():
            (self.root / path).write_bytes(content)
        for path in self.built:
            link = self.root / path
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(self.repository / path)


def copy_repository(repository: Path, folder: Path) -> None:
    """Copy a repository without build/, virtual environments and hidden folders."""
    for path in _files(repository):
        target = folder / path.relative_to(repository)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            target.symlink_to(path.resolve())
        elif path.is_file():
            shutil.copy(path, target)


def _files(repository: Path) -> Iterator[Path]:
    """Yield the files of a repository, and links to folders."""
    for here, folders, files in os.walk(repository):
        entries = [Path(here, name) for name in (*folders, *files)]
        yield from (path for path in entries if path.is_symlink() or path.is_file())
        folders[:] = [name for name in folders if _is_copied(repository, Path(here, name))]


def _is_copied(repository: Path, folder: Path) -> bool:
    is_build = folder == repository / _BUILD
    is_environment = (folder / "pyvenv.cfg").exists()
    return not is_build and not is_environment and not folder.name.startswith(".")
