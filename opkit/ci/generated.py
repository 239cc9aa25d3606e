"""`python -m opkit.ci.generated`: check that all generated files are committed or staged."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from opkit import manifest, repository
from opkit.ci import git_changes
from opkit.common.errors import OpkitError


def main() -> int:
    """Write the generated files of this folder; return 1 if git has other ones, or not all."""
    try:
        repository.refuse_changed_lock(Path())
        refuse_uncommitted(Path())
    except OpkitError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def refuse_uncommitted(root: Path, files: Sequence[str] | None = None) -> None:
    """Refuse generated files that git does not have, or has otherwise.

    Args:
        root: the folder of the files.
        files: the files; None: those of the repository in the folder, which are written first.

    Raises:
        OpkitError: the message names the files; or the repository cannot be used, or git fails.
    """
    if files is None:
        repository.refuse_other_opkit(root)
        repository.update(root)
        files = [manifest.PATH, *repository.read_manifest(root).generated]
    missing = git_changes.paths(root, "diff", "--name-only", "--relative", files=files)
    missing += git_changes.paths(root, "ls-files", "--others", files=files)
    if missing:
        raise OpkitError(
            f"{', '.join(missing)}: not in git, or differs from the file generated from "
            "op.yml and the reference; run `scons`, then `git add` it"
        )


if __name__ == "__main__":
    raise SystemExit(main())
