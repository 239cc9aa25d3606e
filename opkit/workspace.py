"""A workspace: a folder with rknn-op.toml, and many operators that share the files at its root.

A member is an operator repository below that folder without a wheel of its own. Its files are those
of a repository that stands alone, except for the shared ones.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

FILE = "rknn-op.toml"
"""The file that makes a folder a workspace."""
_SHARED = (
    ".cruft.json",
    ".devcontainer/",
    ".gitattributes",
    ".github/",
    ".gitignore",
    ".pre-commit-config.yaml",
    "docs/",
    "requirements.lock",
    "requirements.txt",
    "rknn_opkit-",
)
"""The first parts of the paths that a repository has and a member has not."""

Content = TypeVar("Content")


def is_shared(path: str) -> bool:
    """Return whether a file of a repository is at the root of a workspace instead."""
    return path.startswith(_SHARED)


def own_files(files: Mapping[str, Content]) -> dict[str, Content]:
    """Return path -> content of the files that a member has itself."""
    return {path: content for path, content in files.items() if not is_shared(path)}


def above(folder: Path) -> Path | None:
    """Return the nearest workspace that has a folder, or is it; None: there is none."""
    # Text, and not resolve(): a path has the folders that the user named.
    here = os.path.abspath(folder)  # noqa: PTH100  as above
    while not os.path.isfile(f"{here}/{FILE}"):  # noqa: PTH113  str is faster
        parent = os.path.dirname(here)  # noqa: PTH120  as above
        if parent == here:
            return None
        here = parent
    return Path(here)


def of_member(folder: Path) -> Path | None:
    """Return the workspace of a member; None: the repository stands alone."""
    root = above(Path(os.path.abspath(folder)).parent)  # noqa: PTH100  as in `above`
    return None if root is None or has_wheel(folder) else root


def home(folder: Path) -> Path:
    """Return the folder of a repository's wheel: its workspace, or its own folder."""
    return of_member(folder) or folder


def has_wheel(folder: Path) -> bool:
    """Return whether a folder has a wheel of opkit."""
    try:
        names = os.listdir(folder)  # noqa: PTH208  a third of the time of iterdir
    except OSError:
        return False
    return any(name.startswith("rknn_opkit-") and name.endswith(".whl") for name in names)
