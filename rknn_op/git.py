"""Ask git about a repository without running the programs that its configuration names."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from opkit.errors import OpkitError

_CONFIGURATION = ("core.fsmonitor=", f"core.hooksPath={os.devnull}")
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # missing objects of a partial clone are not fetched
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",  # the index is not written
}
_FILTERS = r"^filter\..*\.(clean|process|required)$"


def uncommitted(folder: Path) -> list[str]:
    """Return the paths of files that are not committed, without submodules.

    Empty if git is not installed, or the folder is not in a repository. No filter runs: a file that
    a filter changes, such as one of git-lfs, is among them when its time stamp has changed.

    Raises:
        OpkitError: the name of a filter is invalid.
    """
    try:
        configuration = [*_CONFIGURATION, *_without_filters(folder)]
        status = _git(
            *(word for each in configuration for word in ("-c", each)),
            *("status", "--porcelain", "--ignore-submodules=all", "--", "."),
            folder=folder,
        )
    except OSError:
        return []
    return [line[3:] for line in status.stdout.splitlines()] if status.returncode == 0 else []


def _without_filters(folder: Path) -> Iterator[str]:
    """Yield the configuration that turns off all filters.

    Raises:
        OpkitError: the name of a filter is invalid.
    """
    listed = _git("config", "--null", "--name-only", "--get-regexp", _FILTERS, folder=folder)
    for name in filter(None, listed.stdout.split("\0")):
        if "=" in name:  # git would read it as the name of another key
            raise OpkitError(f"{folder}: git's configuration has an invalid name: {name!r}")
        yield f"{name}={'false' if name.endswith('.required') else ''}"


def _git(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", folder, *arguments],
        env={**os.environ, **_ENVIRONMENT},
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
    )
