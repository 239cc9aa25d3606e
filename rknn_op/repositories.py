"""Recognize operator repositories, and run SCons in them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from opkit.errors import OpkitError
from rknn_op.own_opkit import python_path

if TYPE_CHECKING:  # lint runs no process
    import subprocess

    from rknn_op.processes import Processes


def require(folder: Path) -> None:
    """Require an operator repository.

    Raises:
        OpkitError: the folder is not an operator repository.
    """
    for name in ("op.yml", "SConstruct"):
        if not (folder / name).is_file():
            raise OpkitError(
                f"{folder} is not an operator repository: {name} not found; "
                "pass another folder, or make one with `rknn-op create`"
            )


def scons(
    processes: Processes, folder: Path, *arguments: str, stdout: int | IO[str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run SCons in an operator repository, with the repository's own opkit.

    Args:
        processes: runs it.
        folder: the repository.
        arguments: of SCons.
        stdout: the destination of its output; subprocess.PIPE: both streams are in the
            result's `stdout`.

    Raises:
        OpkitError: the folder is not an operator repository, its opkit cannot be used, or the
            command is interrupted.
    """
    import subprocess

    require(folder)
    return processes.run(
        [sys.executable, "-m", "SCons", *arguments],
        folder,
        environment(folder),
        stdout,
        subprocess.STDOUT if stdout == subprocess.PIPE else None,
    )


def environment(folder: Path) -> dict[str, str]:
    """Return the environment with a repository's opkit on Python's path.

    SCons reads options from SCONSFLAGS: `-n` would check nothing, `-i` ignore failures.

    Raises:
        OpkitError: its opkit cannot be used.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "SCONSFLAGS"}
    return {**inherited, "PYTHONPATH": python_path(folder)}
