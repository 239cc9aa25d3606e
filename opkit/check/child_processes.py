"""Workers, processes that answer requests; and the killing of their descendants."""

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
from typing import IO, BinaryIO


@dataclass(eq=False)
class Worker:
    """A process that answers requests on its stdout until its stdin ends; see start_worker.

    Attributes:
        process: the process.
        mark: NAME=value in its environment; its descendants inherit it.
    """

    process: subprocess.Popen[bytes]
    mark: str
    _errors: BinaryIO
    _deadline: float = 0.0
    _received: bytearray = field(default_factory=bytearray)

    def send(self, request: bytes, timeout: float) -> None:
        """Send a request; `timeout` is in seconds, until the end of the answer.

        Raises:
            TimeoutError: the process does not read it in time.
            BrokenPipeError: the process has ended.
        """
        self._deadline = time.monotonic() + timeout
        assert self.process.stdin is not None
        rest = memoryview(request)
        while rest:
            self._wait(self.process.stdin, select.POLLOUT)
            rest = rest[os.write(self.process.stdin.fileno(), rest) :]

    def line(self) -> bytes:
        """Return the next line of the answer, with its newline; see take."""
        while (end := self._received.find(b"\n")) < 0:
            self._receive()
        return self.take(end + 1)

    def take(self, size: int) -> bytes:
        """Return the next bytes of the answer.

        Raises:
            TimeoutError: they do not arrive in time.
            EOFError: the process has ended.
        """
        while len(self._received) < size:
            self._receive()
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken

    def _receive(self) -> None:
        assert self.process.stdout is not None
        self._wait(self.process.stdout, select.POLLIN)
        data = os.read(self.process.stdout.fileno(), 1 << 20)
        if not data:
            raise EOFError
        self._received += data

    def _wait(self, pipe: IO[bytes], event: int) -> None:
        """Wait until a pipe is ready, or closed at its other end.

        Raises:
            TimeoutError: it is not ready in time.
        """
        poll = select.poll()  # unlike select(), it takes file descriptors above 1023
        poll.register(pipe, event)
        if not poll.poll(1000 * max(0.0, self._deadline - time.monotonic())):
            raise TimeoutError

    def kill_strays(self) -> None:
        """Kill the descendants of the process."""
        kill_marked(self.mark, but=self.process.pid)

    def kill(self) -> str:
        """Kill the process and its descendants; return its stderr."""
        self.process.kill()
        return self.close()

    def close(self) -> str:
        """Close the input of the process, and return its stderr.

        Kills the process if it does not exit, and its descendants.
        """
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
        with self._errors as errors:
            errors.seek(0)
            return errors.read().decode(errors="replace")


def start_worker(
    command: Sequence[str], environment: Mapping[str, str] = {}, folder: Path | None = None
) -> Worker:
    """Start a worker; this process closes it at exit.

    Args:
        command: the command line.
        environment: variables added to its environment.
        folder: its working directory.
    """
    name, value = "OPKIT_WORKER", secrets.token_hex(8)
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - the worker closes it
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


def kill_marked(mark: str, but: int = 0) -> bool:
    """Kill every process with a mark in its initial environment; return whether there were any.

    Descendants of a kernel inherit the mark, even with another session or parent. The harness alone
    cannot find them under an emulator, which does not forward PR_SET_CHILD_SUBREAPER.

    Args:
        mark: NAME=value.
        but: the id of a process to spare.
    """
    found = False
    for environment in Path("/proc").glob("[0-9]*/environ"):
        process = int(environment.parent.name)
        with suppress(OSError):
            if process != but and mark.encode() in environment.read_bytes().split(b"\0"):
                found = True
                os.kill(process, SIGKILL)
    return found
