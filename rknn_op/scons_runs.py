"""Run SCons in many repositories, in parallel, with a table of the results."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import PIPE

from opkit.errors import OpkitError
from opkit.text import aligned
from rknn_op.processes import Processes
from rknn_op.repositories import scons


@dataclass(frozen=True)
class Run:
    """A run of SCons in a repository.

    Attributes:
        folder: the repository.
        arguments: of SCons.
        status: the exit status.
        output: the output of SCons, or the error that prevented the run.
        seconds: the duration.
    """

    folder: Path
    arguments: Sequence[str]
    status: int
    output: str = ""
    seconds: float = 0.0

    @property
    def command(self) -> str:
        """The command line."""
        return " ".join(["scons", *self.arguments])


def run_all(
    commands: Mapping[Path, Sequence[Sequence[str]]], jobs: int
) -> Generator[Run, None, None]:
    """Run SCons in repositories.

    Args:
        commands: repository -> the arguments of each run; sequential in a repository.
        jobs: the number of repositories in parallel; they share the processors.

    Yields:
        The runs, in the order of repositories and commands.
    """
    share = f"-j{max(1, (os.cpu_count() or 1) // jobs)}"
    # An interruption kills the processes before the threads are waited for.
    with ThreadPoolExecutor(jobs) as threads, Processes() as processes:
        try:
            each = partial(_runs, processes, share)
            for runs in threads.map(each, commands, commands.values()):
                yield from runs
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def _runs(
    processes: Processes, share: str, folder: Path, commands: Sequence[Sequence[str]]
) -> list[Run]:
    runs = []
    for arguments in commands:
        start = time.perf_counter()
        try:
            done = scons(processes, folder, "-Q", share, *arguments, stdout=PIPE)
            status, output = done.returncode, done.stdout
        except OpkitError as error:
            status, output = 2, f"error: {error}\n"
        runs.append(Run(folder, arguments, status, output, time.perf_counter() - start))
    return runs


def table(runs: Sequence[Run]) -> str:
    """Return a table with a row for each run."""
    rows = [
        (
            str(run.folder),
            run.command,
            "failed" if run.status else "done",
            f"{run.seconds:.1f} s",
        )
        for run in runs
    ]
    return aligned([("repository", "command", "result", "time"), *rows])
