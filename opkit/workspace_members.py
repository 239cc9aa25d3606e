"""A workspace: a folder with rknn-op.toml, and many operators that share the files at its root.

A member is an operator repository below that folder without a wheel of its own. Its files are those
of a repository that stands alone, except for the shared ones.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from opkit.common.errors import OpkitError
from opkit.common.text import did_you_mean

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


SKIPPED = {"build", "node_modules", "__pycache__"}
"""Folders without members, besides hidden ones; a check copies op.yml into `build`."""


def members(root: Path) -> list[Path]:
    """Return the folders of a workspace's members, sorted, relative to it as `root / ...`.

    Those are all folders with op.yml below the root, or the ones that `members` of rknn-op.toml
    lists.

    Raises:
        OpkitError: rknn-op.toml is invalid, or names no operator.
    """
    patterns = _patterns(root)
    found = sorted(_repositories(root, ""))
    if patterns is None:
        return [root / path for path in found]
    chosen: set[str] = set()
    for pattern in patterns:
        matching = {path for path in found if _matches(path, pattern)}
        if not matching:
            raise OpkitError(
                f"{root / FILE}: members: {pattern!r} matches no folder with op.yml; "
                'write a folder or a pattern, such as "operators/*", or delete `members`'
            )
        chosen |= matching
    return [root / path for path in sorted(chosen)]


def _matches(path: str, pattern: str) -> bool:
    """Return whether a pattern matches a path; `*` matches no `/`."""
    parts = PurePosixPath(pattern).parts
    return len(parts) == path.count("/") + 1 and PurePosixPath(path).match(pattern)


def _repositories(root: Path, below: str) -> Iterator[str]:
    """Yield the folders with op.yml; none is in another one."""
    with os.scandir(root / below) as entries:
        listed = [*entries]
    if below and any(entry.name == "op.yml" for entry in listed):
        yield below
        return
    for entry in listed:
        if (
            entry.name[0] != "."
            and entry.name not in SKIPPED
            and entry.is_dir(follow_symlinks=False)
        ):
            yield from _repositories(root, f"{below}/{entry.name}" if below else entry.name)


def _patterns(root: Path) -> list[str] | None:
    """Return the value of `members`; None: all.

    Raises:
        OpkitError: the file cannot be read, or is invalid.
    """
    if sys.version_info >= (3, 11):
        import tomllib  # only here: most repositories stand alone
    else:
        import tomli as tomllib
    file = root / FILE
    try:
        settings: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise OpkitError(f"{file}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OpkitError(f"{file}: invalid TOML: {error}") from None
    for key in settings:
        if key != "members":
            hint = did_you_mean(key, ["members"])
            raise OpkitError(
                f"{file}: {key}: unknown key (expected members)" + (f"; {hint}" if hint else "")
            )
    patterns = settings.get("members")
    if patterns is None:
        return None
    if not isinstance(patterns, list) or not all(isinstance(each, str) for each in patterns):
        raise OpkitError(
            f"{file}: members: invalid {patterns!r} (expected a list of folders, such as "
            '["operators/*"])'
        )
    return patterns
