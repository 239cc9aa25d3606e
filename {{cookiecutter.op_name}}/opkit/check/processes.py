"""Runs a program that may print without end, or never end."""

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

KEPT = 16 << 10
"""Bytes that are kept of what a program prints, at the beginning and at the end."""


@dataclass(frozen=True)
class Finished:
    """A program that has ended.

    Attributes:
        status: its exit status; negative: the signal that ended it.
        stdout: what it wrote there, all of it.
        stderr: what it wrote there; of a long text the beginning and the end.
        timed_out: whether it was ended because its time was over.
    """

    status: int
    stdout: str
    stderr: str
    timed_out: bool


class _Kept:
    """The beginning and the end of a text."""

    def __init__(self) -> None:
        self.head = b""
        self.tail = b""
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = KEPT - len(self.head)
        self.head += data[:room]
        self.tail = (self.tail + data[room:])[-KEPT:]

    def text(self) -> str:
        left_out = self.size - len(self.head) - len(self.tail)
        middle = f"\n... {left_out} bytes left out ...\n" if left_out else ""
        return self.head.decode(errors="replace") + middle + self.tail.decode(errors="replace")


def run(command: Sequence[str | Path], stdin: str, timeout: float) -> Finished:
    """Run a program; end it, and all that it has started, when its time is over.

    Raises:
        FileNotFoundError: there is no such program.
    """
    stderr = _Kept()
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as stdout:
        source.write(stdin.encode())
        source.seek(0)
        process = subprocess.Popen(
            command, stdin=source, stdout=stdout, stderr=subprocess.PIPE, start_new_session=True
        )
        end = time.monotonic() + timeout
        timed_out = not _read(process, stderr, end)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, SIGKILL)
        status = process.wait()
        assert process.stderr is not None
        process.stderr.close()
        stdout.seek(0)
        return Finished(status, stdout.read().decode(errors="replace"), stderr.text(), timed_out)


def kill_marked(mark: str, but: int = 0) -> None:
    """End every process that has a mark in the environment that it was started with.

    What a kernel starts inherits it, whatever session or parent it gives itself: an emulator does
    not pass on to the system that orphans are to come back to the harness.

    Args:
        mark: as NAME=value.
        but: a process that goes on.
    """
    for environment in Path("/proc").glob("[0-9]*/environ"):
        process = int(environment.parent.name)
        with suppress(OSError):
            if process != but and mark.encode() in environment.read_bytes().split(b"\0"):
                os.kill(process, SIGKILL)


def _read(process: subprocess.Popen[bytes], kept: _Kept, end: float) -> bool:
    """Read what a process prints until it ends; whether that was before the time was over."""
    assert process.stderr is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        while (left := end - time.monotonic()) > 0:
            if selector.select(left):
                data = os.read(process.stderr.fileno(), 1 << 16)
                if not data:
                    return _wait(process, end)
                kept.add(data)
    return False


def _wait(process: subprocess.Popen[bytes], end: float) -> bool:
    """Wait for the end of a process that prints no more; whether that came in time."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:  # an old kernel: look again and again
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, end - time.monotonic()))
        return process.poll() is not None
    try:
        return bool(select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0])
    finally:
        os.close(descriptor)
