"""Runs a program with a timeout and a limit for its output."""

from __future__ import annotations

import os
import select
import selectors
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL

KEPT_BYTES = 16 << 10
"""Bytes of stderr that are kept, at the beginning and at the end."""


@dataclass(frozen=True)
class ProcessResult:
    """The result of a program.

    Attributes:
        status: its exit status; negative: the signal that ended it.
        stdout: all of it.
        stderr: of a long text the beginning and the end.
        timed_out: whether it was killed at the timeout.
    """

    status: int
    stdout: str
    stderr: str
    timed_out: bool


class _HeadAndTail:
    """The beginning and the end of a text."""

    def __init__(self) -> None:
        self.head = b""
        self.tail = b""
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        free = KEPT_BYTES - len(self.head)
        self.head += data[:free]
        self.tail = (self.tail + data[free:])[-KEPT_BYTES:]

    def text(self) -> str:
        omitted = self.size - len(self.head) - len(self.tail)
        separator = f"\n... {omitted} bytes left out ...\n" if omitted else ""
        return self.head.decode(errors="replace") + separator + self.tail.decode(errors="replace")


def run(command: Sequence[str | Path], stdin: str, timeout: float) -> ProcessResult:
    """Run a program; at the timeout, or if we are interrupted, kill it and all its children.

    Raises:
        FileNotFoundError: the program does not exist.
    """
    stderr = _HeadAndTail()
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as stdout:
        source.write(stdin.encode())
        source.seek(0)
        process = subprocess.Popen(
            command, stdin=source, stdout=stdout, stderr=subprocess.PIPE, start_new_session=True
        )
        end = time.monotonic() + timeout
        try:
            timed_out = not _read(process, stderr, end)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, SIGKILL)
        status = process.wait()
        assert process.stderr is not None
        process.stderr.close()
        stdout.seek(0)
        return ProcessResult(
            status, stdout.read().decode(errors="replace"), stderr.text(), timed_out
        )


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


def _read(process: subprocess.Popen[bytes], stderr: _HeadAndTail, end: float) -> bool:
    """Read a process' stderr until it ends; return whether that was before the end time."""
    assert process.stderr is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        while (remaining := end - time.monotonic()) > 0:
            if selector.select(remaining):
                data = os.read(process.stderr.fileno(), 1 << 16)
                if not data:
                    return _wait(process, end)
                stderr.add(data)
    return False


def _wait(process: subprocess.Popen[bytes], end: float) -> bool:
    """Wait for a process that has closed stderr; return whether it ended before the end time."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:  # an old Linux kernel: poll
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, end - time.monotonic()))
        return process.poll() is not None
    try:
        return bool(select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0])
    finally:
        os.close(descriptor)
