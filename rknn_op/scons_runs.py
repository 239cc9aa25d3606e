"""Processes that do not outlive a command, and runs of SCons in repositories."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import PIPE
from threading import Lock
from types import TracebackType
from typing import IO

from opkit.check.child_processes import kill_marked
from opkit.common.errors import OpkitError
from opkit.common.text import aligned
from rknn_op.own_opkit import environment, require

_NAME = "RKNN_OP_PROCESSES"
_FINISHED = b"."
_TIMEOUT = 5.0
"""Seconds for processes to end; one that waits for a device may take longer."""


class Processes:
    """Runs processes; kills them and their descendants if the context ends by an exception.

    They are killed too if this process is: a forked guard waits for its end. Each has a session of
    its own, so that Ctrl-C in a terminal reaches only this process, which prints one message.
    """

    def __init__(self) -> None:
        self._mark = f"{_NAME}={secrets.token_hex(8)}"
        self._lock = Lock()
        self._ended = False
        self._guard = 0
        self._pipe = 0

    def __enter__(self) -> Processes:
        reader, self._pipe = os.pipe()
        self._guard = os.fork()
        if not self._guard:
            os.close(self._pipe)
            _guard(reader, self._mark)
        os.close(reader)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._ended = True
        if kind is None:
            with suppress(BrokenPipeError):  # the guard was killed
                os.write(self._pipe, _FINISHED)
        os.close(self._pipe)
        os.waitpid(self._guard, 0)

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        stdout: int | IO[str] | None,
        stderr: int | None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a folder; threads may run several at a time.

        Args:
            command: the program and its arguments.
            folder: the working directory.
            environment: its environment.
            stdout: as in subprocess.
            stderr: as in subprocess.

        Raises:
            OpkitError: the context has ended.
        """
        name, _, value = self._mark.partition("=")
        with self._lock:
            if self._ended:
                raise OpkitError("interrupted")
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**environment, name: value},
                stdout=stdout,
                stderr=stderr,
                text=True,
                start_new_session=True,
            )
        with process:
            try:
                output, _ = process.communicate()
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(command, process.returncode, output)


def _guard(pipe: int, mark: str) -> None:
    """Wait for the end of the parent or of its context; kill the processes; never return."""
    os.setsid()
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    if os.read(pipe, 1) != _FINISHED:
        end = time.monotonic() + _TIMEOUT
        # The next round kills what a process has started meanwhile.
        while kill_marked(mark) and time.monotonic() < end:
            time.sleep(0.001)
    os._exit(0)


# ---- SCons ---------------------------------------------------------------------------------------


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
    require(folder)
    return processes.run(
        [sys.executable, "-m", "SCons", *arguments],
        folder,
        environment(folder),
        stdout,
        subprocess.STDOUT if stdout == subprocess.PIPE else None,
    )


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
