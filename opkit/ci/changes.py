"""The operators of a workspace that differ from a commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opkit import workspace
from opkit.ci import git

_FOR_ALL = (".github/", "requirements.", "rknn_opkit-", workspace.FILE)
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
    files = git.paths(
        root, "diff", "--name-only", "--relative", "--end-of-options", ref, files=["."]
    )
    files += git.paths(root, "ls-files", "--others", "--exclude-standard", files=["."])
    if any(file.startswith(_FOR_ALL) for file in files):
        return [*members]
    names = {member: f"{member.relative_to(root).as_posix()}/" for member in members}
    return [each for each in members if any(file.startswith(names[each]) for file in files)]
