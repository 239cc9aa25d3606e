"""Runs the CPU kernel in a process of its own, wherever that is; runner.c is the other side.

The process is started once and answers one call after the other. When it ends, or the kernel in it
has crashed, the next call gets a new one.
"""

from __future__ import annotations

import atexit
import io
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from opkit.check.executors import Place
from opkit.check.invocation import (
    INT32_ARRAY,
    TENSOR_TYPES,
    TYPES,
    Array,
    Call,
    Outcome,
    Scalar,
    delivered,
)
from opkit.check.sanitizers import explain
from opkit.description.spec import OpSpec

PATIENCE = 30.0  # seconds for everything but the kernel: start, copying, the network
LONGEST_NAME = 63  # bytes, as OpenVX has it; messages cut what is longer
SHOWN_LINES = 12  # of what the process wrote to stderr before it ended


class RemoteKernel:
    """The CPU kernel of an operator in another process. It is a Runner.

    Args:
        spec: the operator description.
        place: how the process is started.
        root: the repository.
    """

    def __init__(self, spec: OpSpec, place: Place, root: Path) -> None:
        self.spec = spec
        self.place = place
        self.root = root
        self._process: _Process | None = None

    def run(
        self, call: Call, fill: int | None = None, repeat: int = 1, limit: float = 10
    ) -> Outcome:
        """Run the kernel; see Runner."""
        asked = b"".join(request(self.spec, call, fill, repeat, limit))
        if self._process is None:
            self._process = _Process(self.place)
        try:
            answer = self._process.ask(asked, PATIENCE + limit * (repeat + 2))
        except _EndedError as end:
            self._process = None
            return Outcome(fault=explain(end.said, self.root) or str(end))
        outcome = _outcome(answer, [output.name for output in self.spec.outputs])
        if outcome.fault:  # the memory of the process may be damaged
            self._process.close()
            self._process = None
        if not self.place.measures:
            outcome.seconds = math.inf
        return outcome


# ---- What goes over the line ---------------------------------------------------------------------


def _npy(array: Array) -> bytes:
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array), allow_pickle=False)
    return file.getvalue()


def request(
    spec: OpSpec, call: Call, fill: int | None, repeat: int, limit: float
) -> Iterator[bytes]:
    """Yield what a runner reads to run the kernel once; see Runner for the arguments."""

    def parameter(kind: str, type_: int, name: str, data: bytes) -> bytes:
        return f"{kind} {type_} {name[:LONGEST_NAME]} {len(data)}\n".encode() + data

    yield f"run {-1 if fill is None else fill} {repeat} {limit} {len(spec.parameters)}\n".encode()
    for input_ in spec.inputs:
        array = call.inputs[input_.name]
        yield parameter("input", TENSOR_TYPES[array.dtype], input_.name, _npy(array))
    for output in spec.outputs:
        shape, dtype = call.outputs[output.name]
        size = math.prod(shape) * np.dtype(dtype).itemsize
        before: Array = np.full(size, fill or 0, np.uint8).view(dtype).reshape(shape)
        yield parameter("output", TENSOR_TYPES[before.dtype], output.name, _npy(before))
    for param in spec.params:
        value = delivered(param, call.params[param.name])
        if isinstance(value, Scalar):
            yield parameter("scalar", TYPES[value.type], param.name, value.data)
        else:
            items = np.array(value.items, np.int32).tobytes()
            yield parameter("array", TYPES[INT32_ARRAY], param.name, items)


def _outcome(answer: list[tuple[str, bytes]], outputs: list[str]) -> Outcome:
    outcome = Outcome()
    names = iter(outputs)
    for what, data in answer:
        text = data.decode(errors="replace").rstrip()
        match what:
            case "status":
                outcome.status = int(text)
            case "stage":
                outcome.stage = text
            case "seconds":
                outcome.seconds = float(text)
            case "fault":
                outcome.fault = text
            case "log":
                outcome.log.append(text)
            case "event":
                outcome.events.append(text)
            case "leak":
                outcome.leaks.append(text)
            case "output":
                outcome.outputs[next(names)] = np.load(io.BytesIO(data), allow_pickle=False)
    return outcome


# ---- The process ---------------------------------------------------------------------------------


class _EndedError(Exception):
    """The process is gone; `said` is what it wrote to stderr meanwhile."""

    def __init__(self, how: str, said: str) -> None:
        last = said.strip().splitlines()[-SHOWN_LINES:]
        super().__init__("\n".join([how, *(f"  {line}" for line in last)]))
        self.said = said


class _Process:
    """A runner that answers requests."""

    def __init__(self, place: Place) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self.popen = subprocess.Popen(
            place.command,
            env={**os.environ, **place.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        self._close = partial(_stop, self.popen)
        atexit.register(self._close)

    def ask(self, request: bytes, patience: float) -> list[tuple[str, bytes]]:
        """Return the answer to a request, what and bytes, without its end.

        Raises:
            _EndedError: there was none.
        """
        assert self.popen.stdin is not None
        said_before = os.fstat(self.errors.fileno()).st_size
        end = time.monotonic() + patience
        timer = threading.Timer(patience, self.popen.kill)
        timer.start()
        try:
            self.popen.stdin.write(request)
            self.popen.stdin.flush()
            answer = list(iter(self._record, ("end", b"")))
        except (EOFError, BrokenPipeError):
            self.close()
            late = time.monotonic() >= end
            how = f"no answer after {patience:g} s" if late else self._how_it_ended()
            raise _EndedError(how, self._said(said_before)) from None
        finally:
            timer.cancel()
        sys.stderr.write(self._said(said_before))
        return answer

    def _record(self) -> tuple[str, bytes]:
        assert self.popen.stdout is not None
        what, _, size = self.popen.stdout.readline().decode(errors="replace").partition(" ")
        if not size.endswith("\n"):
            raise EOFError
        data = self.popen.stdout.read(int(size))
        if len(data) != int(size):
            raise EOFError
        return what, data

    def _said(self, since: int) -> str:
        file = self.errors.fileno()
        return os.pread(file, os.fstat(file).st_size - since, since).decode(errors="replace")

    def _how_it_ended(self) -> str:
        status = self.popen.returncode
        if status >= 0:
            return f"the process that runs the kernel ended with status {status}"
        return f"the process that runs the kernel ended with {signal.Signals(-status).name}"

    def close(self) -> None:
        """End the process."""
        atexit.unregister(self._close)
        self._close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a process by ending its input, or else by force."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
