"""Runs a kernel in the harness: on this PC or elsewhere; protocol.c is its side.

The harness is started once and answers one invocation after the other, each in a process of its
own. When it ends itself, the next invocation gets a new one.
"""

from __future__ import annotations

import atexit
import os
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from opkit.check.debug_info import line_of
from opkit.check.executors import GREETING
from opkit.check.processes import kill_marked
from opkit.check.sanitizers import explain
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import Array, CallingConvention, Invocation, RunResult, Value

TIMEOUT = 40.0  # seconds for everything but the kernel: start, copying, the network
STAGES = 4  # that have a time limit besides the kernel: loading, setting up, cleaning up, unloading
GRACE = 1.0  # seconds that each may take longer before the harness ends it
LONGEST_NAME = 63  # bytes, as the harness has it; messages cut what is longer
SHOWN_LINES = 12  # of what the harness wrote to stderr before it ended


class HarnessKernel:
    """A kernel of an operator in the harness. It is a Kernel.

    Args:
        spec: the operator description.
        executor: how the harness is started.
        root: the repository.
        convention: how the runtime calls the kernel.
        attachments: what the runtime's part of the harness gets besides the values.
        library: the kernel's library on this PC, if its debug information knows the lines.
    """

    keeps_state = True

    def __init__(
        self,
        spec: OpSpec,
        executor: Executor,
        root: Path,
        convention: CallingConvention,
        attachments: Mapping[str, bytes] | None = None,
        library: Path | None = None,
    ) -> None:
        self.spec = spec
        self.executor = executor
        self.root = root
        self.convention = convention
        self.attachments = attachments or {}
        self.library = library
        self._process: _Process | None = None

    def run(
        self, invocation: Invocation, fill: int | None = None, repeat: int = 1, limit: float = 10
    ) -> RunResult:
        """Run the kernel; see Kernel.

        Raises:
            OpkitError: the library does not fit op.yml, or cannot be loaded.
            RefusedError: the runtime would not run the operator with these values.
        """
        tensors = carried(invocation, self.convention.tensor_types)
        values = self.convention.marshal(self.spec.params, invocation.params)
        asked = b"".join(request(self.spec, tensors, values, self.attachments, fill, repeat, limit))
        timeout = TIMEOUT + (limit + GRACE) * (repeat + STAGES)
        try:
            if self._process is None:
                self._process = _Process(self.executor)
            answer = self._process.ask(asked, timeout)
            if any(what in ("fault", "event", "ended") for what, _ in answer):
                self._process.end_strays()
        except _EndedError as end:
            self._process = None
            return RunResult(fault=explain(end.stderr, self.root) or str(end))
        result = self._result(answer, tensors, limit)
        with np.errstate(all="ignore"):  # what a type cannot hold becomes infinite
            for name, array in result.outputs.items():
                output = array.astype(invocation.outputs[name][1], copy=False)
                if array.dtype.kind == "f" and output.dtype.kind != "f":
                    result.events += _inexact(name, array, output)
                result.outputs[name] = output
        return result

    def _result(
        self, answer: list[tuple[str, bytes]], invocation: Invocation, limit: float
    ) -> RunResult:
        result = RunResult()
        names = iter(invocation.outputs)
        ended, place = "", ""
        for what, data in answer:
            text = data.decode(errors="replace").rstrip()
            match what.split():
                case ["status"]:
                    result.status = int(text)
                case ["stage"]:
                    result.stage = text
                case ["seconds"] if self.executor.measures:
                    result.seconds = float(text)
                case ["fault"]:
                    result.fault = text
                case ["timeout"]:
                    result.timed_out = True
                case ["instruction"]:
                    place = self._line(int(text))
                case ["log"]:
                    result.log.append(text)
                case ["event"]:
                    result.events.append(text)
                case ["leak"]:
                    result.leaks.append(text)
                case ["printed"]:
                    result.printed = text
                case ["output"]:
                    name = next(names)
                    shape, dtype = invocation.outputs[name]
                    result.outputs[name] = np.frombuffer(data, dtype).reshape(shape).copy()
                case ["attachment", name]:
                    result.attachments[name] = data
                case ["ended"]:
                    ended = text
                case ["refused"]:
                    raise OpkitError(text)
        if result.fault:
            result.fault = place + result.fault
        if ended:
            result.timed_out = ended.startswith("late")
            sanitizer = explain(result.printed, self.root)
            result.fault = sanitizer or _how_it_ended(result.stage, ended, limit)
        if result.fault:
            result.outputs = {}
        return result

    def _line(self, instruction: int) -> str:
        """Return "file:line: " of an instruction of the library, if the library knows it."""
        # One further: a fault is at the instruction itself.
        line = line_of(self.library, instruction + 1) if self.library else None
        return f"{line}: " if line else ""

    def close(self) -> None:
        """End the harness; the next invocation starts another one."""
        if self._process is not None:
            self._process.close()
            self._process = None


def carried(invocation: Invocation, tensor_types: Mapping[str, str]) -> Invocation:
    """Return the call with the tensors that its runtime makes of those of a case."""

    def type_of(dtype: DTypeLike) -> str:
        return tensor_types[np.dtype(dtype).name]

    return replace(
        invocation,
        inputs={
            name: array.astype(type_of(array.dtype), copy=False)
            for name, array in invocation.inputs.items()
        },
        outputs={
            name: (shape, type_of(dtype)) for name, (shape, dtype) in invocation.outputs.items()
        },
    )


def _inexact(name: str, array: Array, output: Array) -> Iterator[str]:
    """Yield an event if an output of integers, which the runtime has as floats, is inexact."""
    wrong = array[output != array]
    if wrong.size:
        yield f"output '{name}' holds {wrong[0]:g}, which {output.dtype} does not have"


# ---- What goes over the line ---------------------------------------------------------------------


def request(
    spec: OpSpec,
    invocation: Invocation,
    values: Sequence[Value],
    attachments: Mapping[str, bytes],
    fill: int | None,
    repeat: int,
    limit: float,
) -> Iterator[bytes]:
    """Yield what the harness reads to run the kernel once; see Kernel for the arguments.

    The kernel gets `values` besides its tensors, the runtime's part of the harness `attachments`.
    """

    def value(role: str, value: Value) -> bytes:
        shape = value.shape
        words = (role, value.type, value.name[:LONGEST_NAME], len(shape), *shape, len(value.data))
        return " ".join(map(str, words)).encode() + b"\n" + value.data

    count = len(spec.inputs) + len(spec.outputs) + len(values)
    how = (-1 if fill is None else fill, repeat, limit, count, len(attachments))
    yield f"run {' '.join(map(str, how))}\n".encode()
    for input_ in spec.inputs:
        array: Array = np.ascontiguousarray(invocation.inputs[input_.name])
        yield value("input", Value(input_.name, array.dtype.name, array.shape, array.tobytes()))
    for output in spec.outputs:
        shape, dtype = invocation.outputs[output.name]
        yield value("output", Value(output.name, np.dtype(dtype).name, shape, b""))
    for each in values:
        yield value("param", each)
    for name, data in attachments.items():
        yield f"{name} {len(data)}\n".encode() + data


def _how_it_ended(stage: str, ended: str, limit: float) -> str:
    how, _, number = ended.partition(" ")
    match how:
        case "late":
            return f"{stage} is not done after {limit:g} s, and SIGALRM does not stop it"
        case "exit":
            return f"{stage} ends its process with status {number}: an operator must not exit"
        case "stopped":
            return f"{stage} stops its process with {_signal_name(int(number))}"
        case _:
            return f"{stage} ends its process with {_signal_name(int(number))}"


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


# ---- The process ---------------------------------------------------------------------------------


class _EndedError(Exception):
    """The harness is gone; `stderr` is what it wrote there meanwhile."""

    def __init__(self, how: str, stderr: str) -> None:
        last = stderr.strip().splitlines()[-SHOWN_LINES:]
        super().__init__("\n".join([how, *(f"  {line}" for line in last)]))
        self.stderr = stderr


class _Process:
    """A harness that answers requests."""

    def __init__(self, executor: Executor) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._greeted = False
        self._answer = bytearray()
        self._deadline = 0.0
        name, value = "OPKIT_HARNESS", secrets.token_hex(8)
        self._mark = f"{name}={value}"
        self.popen = subprocess.Popen(
            executor.command,
            env={**os.environ, **executor.environment, name: value},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,
        )
        assert self.popen.stdin is not None
        os.set_blocking(self.popen.stdin.fileno(), False)
        self._close = partial(_stop, self.popen, self._mark)
        atexit.register(self._close)

    def ask(self, request: bytes, timeout: float) -> list[tuple[str, bytes]]:
        """Return the answer to a request, what and bytes, without its end.

        Raises:
            _EndedError: there was none.
        """
        self._deadline = time.monotonic() + timeout
        try:
            self._send(request)
            self._greet()
            return list(iter(self._record, ("end", b"")))
        except TimeoutError:
            self.popen.kill()
            self.close()
            raise _EndedError(f"no answer after {timeout:g} s", self._stderr()) from None
        except (EOFError, BrokenPipeError, ValueError):
            self.close()
            raise _EndedError(self._how_it_ended(), self._stderr()) from None

    def _send(self, request: bytes) -> None:
        assert self.popen.stdin is not None
        rest = memoryview(request)
        while rest:
            if not select.select([], [self.popen.stdin], [], self._left())[1]:
                raise TimeoutError
            rest = rest[os.write(self.popen.stdin.fileno(), rest) :]

    def _left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _greet(self) -> None:
        if not self._greeted and self._line() != GREETING:
            raise EOFError
        self._greeted = True

    def _record(self) -> tuple[str, bytes]:
        what, _, size = self._line().decode(errors="replace").rpartition(" ")
        return what, self._bytes(int(size))

    def _line(self) -> bytes:
        while (end := self._answer.find(b"\n")) < 0:
            self._receive()
        return self._bytes(end + 1)

    def _bytes(self, size: int) -> bytes:
        while len(self._answer) < size:
            self._receive()
        taken = bytes(self._answer[:size])
        del self._answer[:size]
        return taken

    def _receive(self) -> None:
        """Wait for more of the answer.

        Raises:
            TimeoutError: none came in time.
            EOFError: none will come.
        """
        assert self.popen.stdout is not None
        if not select.select([self.popen.stdout], [], [], self._left())[0]:
            raise TimeoutError
        data = os.read(self.popen.stdout.fileno(), 1 << 20)
        if not data:
            raise EOFError
        self._answer += data

    def _stderr(self) -> str:
        file = self.errors.fileno()
        return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")

    def _how_it_ended(self) -> str:
        status = self.popen.returncode
        if status >= 0:
            return f"the harness ended with status {status}"
        return f"the harness ended with {_signal_name(-status)}"

    def end_strays(self) -> None:
        """End what a kernel has started and the harness could not find."""
        kill_marked(self._mark, but=self.popen.pid)

    def close(self) -> None:
        """End the process."""
        atexit.unregister(self._close)
        self._close()


def _stop(process: subprocess.Popen[bytes], mark: str) -> None:
    """End a process by ending its input, or else by force, and all that has its mark."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    kill_marked(mark)
    process.stdout.close()
