"""The members of a workspace, by its rknn-op.toml."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from opkit import workspace
from opkit.errors import OpkitError
from opkit.text import did_you_mean

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
                f"{root / workspace.FILE}: members: {pattern!r} matches no folder with op.yml; "
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
    file = root / workspace.FILE
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
