"""The files that git names."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from opkit.errors import OpkitError


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
