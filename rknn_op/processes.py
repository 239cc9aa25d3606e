"""Processes of a command, which do not outlive it."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import IO

from opkit.check.workers import kill_marked
from opkit.errors import OpkitError

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
