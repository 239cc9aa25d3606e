"""`python -m opkit.ci.generated`: check that all generated files are committed or staged."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from opkit import manifest, repository
from opkit.errors import OpkitError


def main() -> int:
    """Write the generated files of this folder; return 1 if git has other ones, or not all."""
    try:
        repository.refuse_other_opkit(Path())
        repository.update(Path())
        files = [manifest.PATH, *repository.read_manifest(Path()).generated]
        missing = _git("diff", "--name-only", "--relative", files=files)
        missing += _git("ls-files", "--others", files=files)
    except OpkitError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if missing:
        print(
            f"error: {', '.join(missing)}: not in git, or differs from the file generated from "
            "op.yml and the reference; run `scons`, then `git add` it",
            file=sys.stderr,
        )
    return 1 if missing else 0


def _git(*arguments: str, files: Sequence[str]) -> list[str]:
    """Return the files that git names.

    Raises:
        OpkitError: git fails.
    """
    command = ["git", *arguments, "-z", "--", *files]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except OSError as error:
        raise OpkitError(f"git cannot be run: {error.strerror}") from None
    except subprocess.CalledProcessError as error:
        raise OpkitError(f"git {arguments[0]} failed: {error.stderr.strip()}") from None
    return done.stdout.split("\0")[:-1]


if __name__ == "__main__":
    raise SystemExit(main())
