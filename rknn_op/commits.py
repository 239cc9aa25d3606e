"""Ask git about a repository without running programs of its configuration; commit a new one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from opkit.common.errors import OpkitError

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
        configuration = [*_CONFIGURATION]
        listed = _git("config", "--null", "--name-only", "--get-regexp", _FILTERS, folder=folder)
        for name in filter(None, listed.stdout.split("\0")):
            if "=" in name:  # git would read it as the name of another key
                raise OpkitError(f"{folder}: git's configuration has an invalid name: {name!r}")
            configuration.append(f"{name}={'false' if name.endswith('.required') else ''}")
        status = _git(
            *(word for each in configuration for word in ("-c", each)),
            *("status", "--porcelain", "--ignore-submodules=all", "--", "."),
            folder=folder,
        )
    except OSError:
        return []
    return [line[3:] for line in status.stdout.splitlines()] if status.returncode == 0 else []


def refuse_first_commit(folder: Path) -> None:
    """Refuse to commit a new folder, before it is made.

    Raises:
        OpkitError: git is not installed, does not know the user, or has a repository around it.
    """
    here = folder.absolute()
    parent = next(path for path in (here, *here.parents) if path.is_dir())
    try:
        inside = _git("rev-parse", "--show-toplevel", folder=parent)
        identity = _git("var", "GIT_AUTHOR_IDENT", folder=parent)
    except OSError:
        raise OpkitError("--git: git not found; install it, or leave out --git") from None
    if inside.returncode == 0:
        raise OpkitError(
            f"--git: {folder} is in the git repository {inside.stdout.strip()}; leave out --git, "
            "and commit it there"
        )
    if identity.returncode:
        raise OpkitError(
            "--git: git does not know you; run `git config --global user.name NAME` and "
            "`git config --global user.email ADDRESS`, or leave out --git"
        )


def first_commit(folder: Path, message: str) -> None:
    """Make a git repository of a new folder, with one commit of all files.

    Raises:
        OpkitError: git fails; the folder stays as it was.
    """
    try:
        for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", message]):
            done = subprocess.run(
                ["git", "-C", folder, *words], check=False, capture_output=True, text=True
            )
            if done.returncode:
                problem = " ".join((done.stderr or done.stdout).split())
                raise OpkitError(
                    f"--git: `git {words[0]}` failed in {folder}: {problem}; nothing is made: "
                    "correct the cause, or leave out --git and commit the folder yourself"
                )
    except BaseException:  # Ctrl-C, too
        shutil.rmtree(folder / ".git", ignore_errors=True)
        raise


def _git(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", folder, *arguments],
        env={**os.environ, **_ENVIRONMENT},
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
    )
