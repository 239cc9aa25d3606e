"""What git knows of a repository: its files, and the operators that differ from a commit."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from opkit import workspace_members
from opkit.common.errors import OpkitError


def paths(folder: Path, verb: str, *arguments: str, files: Sequence[str]) -> list[str]:
    """Return the files that a command of git names, relative to a folder.

    Args:
        folder: in a repository of git.
        verb: of git.
        *arguments: of the verb.
        files: the paths of the question.

    Raises:
        OpkitError: git fails.
    """
    command = ["git", verb, "-z", *arguments, "--", *files]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    except OSError as error:
        raise OpkitError(f"git cannot be run: {error.strerror}") from None
    except subprocess.CalledProcessError as error:
        raise OpkitError(f"git {verb} failed: {error.stderr.strip()}") from None
    return done.stdout.split("\0")[:-1]


_FOR_ALL = (".github/", "requirements.", "rknn_opkit-", workspace_members.FILE)
"""The first parts of the paths of shared files that a check depends on."""


def changed(root: Path, members: Sequence[Path], ref: str) -> list[Path]:
    """Return the members with files that differ from a commit, or all if a shared file does.

    Files that are not committed count; files that git ignores do not.

    Args:
        root: the workspace.
        members: its members, as `root / ...`.
        ref: a commit, a branch or a tag.

    Raises:
        OpkitError: git fails, for instance because it does not know the commit.
    """
    # With --end-of-options, a name such as --output=FILE is no option.
    files = paths(root, "diff", "--name-only", "--relative", "--end-of-options", ref, files=["."])
    files += paths(root, "ls-files", "--others", "--exclude-standard", files=["."])
    if any(file.startswith(_FOR_ALL) for file in files):
        return [*members]
    names = {member: f"{member.relative_to(root).as_posix()}/" for member in members}
    return [each for each in members if any(file.startswith(names[each]) for file in files)]
