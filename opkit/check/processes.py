"""Workers: processes that answer one request after the other; and how to kill what they start."""

from __future__ import annotations

import atexit
import os
import secrets
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import Any


@dataclass(eq=False)
class Worker:
    """A process that answers requests on its stdout, until its stdin ends; see start_worker.

    Attributes:
        process: the process.
        mark: NAME=value in its environment, which all that it starts inherits.
    """

    process: subprocess.Popen[bytes]
    mark: str
    _errors: Any
    _deadline: float = 0.0
    _received: bytearray = field(default_factory=bytearray)

    def send(self, request: bytes, timeout: float) -> None:
        """Send a request; `timeout` is the seconds until the end of its answer.

        Raises:
            TimeoutError: the process does not read it in time.
            BrokenPipeError: the process has ended.
        """
        self._deadline = time.monotonic() + timeout
        assert self.process.stdin is not None
        rest = memoryview(request)
        while rest:
            if not select.select([], [self.process.stdin], [], self._left())[1]:
                raise TimeoutError
            rest = rest[os.write(self.process.stdin.fileno(), rest) :]

    def line(self) -> bytes:
        """Return the next line of the answer, with its newline; see take."""
        while (end := self._received.find(b"\n")) < 0:
            self._receive()
        return self.take(end + 1)

    def take(self, size: int) -> bytes:
        """Return the next bytes of the answer.

        Raises:
            TimeoutError: they do not come in time.
            EOFError: the process has ended.
        """
        while len(self._received) < size:
            self._receive()
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken

    def _receive(self) -> None:
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], self._left())[0]:
            raise TimeoutError
        data = os.read(self.process.stdout.fileno(), 1 << 20)
        if not data:
            raise EOFError
        self._received += data

    def _left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def stderr(self) -> str:
        """Return what the process has written to stderr."""
        file = self._errors.fileno()
        return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")

    def kill_strays(self) -> None:
        """Kill what the process has started."""
        kill_marked(self.mark, but=self.process.pid)

    def kill(self) -> None:
        """Kill the process, and what it has started."""
        self.process.kill()
        self.close()

    def close(self) -> None:
        """End the process by the end of its input, or else by force, and what it has started."""
        atexit.unregister(self.close)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        kill_marked(self.mark)
        self.process.stdout.close()


def start_worker(
    command: Sequence[str], environment: Mapping[str, str] = {}, folder: Path | None = None
) -> Worker:
    """Start a worker, which is closed at the end of this process at the latest.

    Args:
        command: what starts it.
        environment: variables added to its environment.
        folder: its working directory.
    """
    name, value = "OPKIT_WORKER", secrets.token_hex(8)
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
    process = subprocess.Popen(
        command,
        env={**os.environ, **environment, name: value},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        cwd=folder,
        start_new_session=True,
    )
    assert process.stdin is not None
    os.set_blocking(process.stdin.fileno(), False)
    worker = Worker(process, f"{name}={value}", errors)
    atexit.register(worker.close)
    return worker


def kill_marked(mark: str, but: int = 0) -> None:
    """Kill every process that was started with a mark in its environment.

    What a kernel starts inherits it, whatever session or parent it gives itself: an emulator does
    not pass on to the system that orphans are to come back to the harness.

    Args:
        mark: as NAME=value.
        but: a process that is not killed.
    """
    for environment in Path("/proc").glob("[0-9]*/environ"):
        process = int(environment.parent.name)
        with suppress(OSError):
            if process != but and mark.encode() in environment.read_bytes().split(b"\0"):
                os.kill(process, SIGKILL)
