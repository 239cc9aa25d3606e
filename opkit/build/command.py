"""Commands of a build."""

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
    """Run a command without input; `stdout` has its output and its errors, in order.

    Args:
        command: the program and its arguments.
        folder: the working directory; None: the current one.
        environment: its environment; None: this process's.
        kept_files: open files of this process, which stay open in the command.

    Raises:
        OSError: the command cannot be started.
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
