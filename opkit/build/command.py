"""Runs a command of a build."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run(
    command: Sequence[str],
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    kept_files: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Run a command that gets no input; `stdout` is all that it prints, errors in their place.

    Args:
        command: the program and its arguments.
        folder: where it runs; None: here.
        environment: its environment; None: ours.
        kept_files: our open files that stay open in it.

    Raises:
        OSError: it cannot be started.
    """
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        pass_fds=kept_files,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
