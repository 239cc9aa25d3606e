"""Runs a kernel in the harness, on this PC or another executor; protocol.c is the other side.

The harness starts once and answers one batch of invocations after the other, each batch in its own
process; that of a check's run is one invocation. If the harness itself ends, the next batch starts
a new one.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from opkit.check import coverage_mapping, line_counts
from opkit.check.child_processes import Worker, start_worker
from opkit.check.debug_info import addr2line, thread_local
from opkit.check.executors import GREETING
from opkit.check.sanitizers import explain
from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened
from opkit.description.spec import OpSpec
from opkit.files.source_check import has_loop
from opkit.runtimes.executor import Executor
from opkit.runtimes.invocation import (
    AT_FULL_SPEED,
    STACK_SIZE,
    Array,
    CallingConvention,
    Invocation,
    RunOptions,
    RunResult,
    Usage,
    Value,
)
from opkit.toolchains.abi import ABIS

THREAD_COUNTS = (2, 7)  # an even and an odd one; see checked_loops.c
UNDIVIDED = (
    "no case has a loop with several parts, so `threads` in op.yml was not tried: add a case with "
    "more than `grain` elements for opkit_parallel_for"
)
"""The note on a gap of the cases; see RunResult.coverage."""
TIMEOUT = 40.0  # seconds for everything but the kernel: start, copying, the network
STAGES = 4  # with a time limit besides the kernel: loading, setting up, cleaning up, unloading
GRACE = 1.0  # seconds after the time limit of a stage before the harness kills it
LONGEST_NAME = 63  # bytes, HARNESS_MAX_NAME without the zero; longer names are cut
MAX_STDERR_LINES = 12  # of an ended harness, in a message


@dataclass
class Harness:
    """The harness with a kernel; the first run starts it.

    Attributes:
        executor: the executor.
        root: the repository.
        library: the kernel's library on this PC, if it has debug information.
        stack_size: the bytes of the kernel's stack; 0: not limited.
    """

    executor: Executor
    root: Path
    library: Path | None = None
    stack_size: int = 0
    _worker: Worker | None = None

    def run(
        self,
        tensors: Invocation,
        values: Sequence[Value],
        attachments: Mapping[str, bytes],
        options: RunOptions = AT_FULL_SPEED,
    ) -> RunResult:
        """Run the kernel; see request, and Kernel.

        Raises:
            OpkitError: the kernel cannot be loaded, or the runtime refuses to run it.
        """
        requested = request(tensors, values, attachments, options, self.stack_size)
        return self.run_batch([requested], [tensors], options.repeat, options.limit)[0]

    def run_batch(
        self,
        requests: Sequence[Iterable[bytes]],
        tensors: Sequence[Invocation],
        repeat: int,
        limit: float,
        alternates: bool = False,
    ) -> dict[int, RunResult]:
        """Run several invocations in one process; see StatefulKernel.

        Args:
            requests: the parts of each invocation's request; see request.
            tensors: the inputs and outputs of each in the runtime's types and order.
            repeat: the count of runs in each.
            limit: the timeout of each stage, in seconds.
            alternates: whether each node runs again beside the next one.

        Returns:
            Index -> the result of each invocation, up to one with a fault.

        Raises:
            OpkitError: the kernel cannot be loaded, or the runtime refuses to run it.
        """
        counted = coverage_mapping.counters(self.library) if self.library else (0, 0)
        first = batch(len(requests), alternates, counted)
        requested = b"".join([first, *chain.from_iterable(requests)])
        stages = (repeat + STAGES) * len(requests) * (1 + alternates)
        try:
            answer = self._ask(requested, TIMEOUT + (limit + GRACE) * stages)
        except _EndedError as end:
            return {0: RunResult(fault=explain(end.stderr, self.root) or str(end))}
        base = index = 0  # base: the address of the kernel's library
        records: dict[int, list[tuple[str, bytes]]] = {}
        for what, data in answer:
            if what == "base":
                base = int(data)
            elif what == "invocation":
                index = int(data)
            elif what == "counters" and self.library:
                line_counts.add(self.library, data)
            else:
                records.setdefault(index, []).append((what, data))
        return {
            index: self._result(each, tensors[index], limit, base)
            for index, each in records.items()
        }

    def _ask(self, request: bytes, timeout: float) -> list[tuple[str, bytes]]:
        """Return the records of the answer to a request, (kind, bytes), without the last.

        Raises:
            _EndedError: the harness ended or timed out.
        """
        is_new = self._worker is None
        worker = self._worker or start_worker(self.executor.command, self.executor.environment)
        self._worker = worker
        try:
            worker.send(request, timeout)
            if is_new and worker.line() != GREETING:
                raise EOFError
            answer = list(iter(lambda: _record(worker), ("end", b"")))
        except TimeoutError:
            self._worker = None
            raise _EndedError(f"no answer after {timeout:g} s", worker.kill()) from None
        except (EOFError, BrokenPipeError, ValueError):
            self._worker = None
            stderr = worker.close()
            status = worker.process.returncode
            how = f"status {status}" if status >= 0 else _signal_name(-status)
            raise _EndedError(f"the harness ended with {how}", stderr) from None
        if any(what in ("fault", "event", "ended") for what, _ in answer):
            worker.kill_strays()
        return answer

    def _result(
        self, answer: list[tuple[str, bytes]], invocation: Invocation, limit: float, base: int
    ) -> RunResult:
        result = RunResult()
        names = iter(invocation.outputs)
        ended, place = "", ""
        heap = 0
        for what, data in answer:
            text = data.decode(errors="replace").rstrip()
            match what.split():
                case ["status"]:
                    result.status = int(text)
                case ["stage"]:
                    result.stage = text
                case ["seconds"] if self.executor.measures:
                    result.seconds = float(text)
                case ["heap"]:
                    heap = int(text)
                case ["usage"] if self.stack_size:
                    stack, processor, waiting = text.split()
                    result.usage = Usage(int(stack), 0, float(processor), float(waiting))
                case ["profile"]:
                    result.profiles.append(text)
                case ["fault"]:
                    result.fault = text
                case ["timeout"]:
                    result.timed_out = True
                case ["instruction"]:
                    place = self._line(int(text) + 1)  # not a return address
                case ["log"]:
                    result.log.append(text)
                case ["event", *caller]:
                    result.events.append(self._lines(caller, base) + text)
                case ["leak", *caller]:
                    result.leaks.append(self._lines(caller, base) + text)
                case ["thread_local"] if self.library:
                    if variable := thread_local(self.library, int(text)):
                        result.notes.append(_WRITTEN_IN_INITIALIZER.format(*variable))
                case ["printed"]:
                    result.printed = text
                case ["output"]:
                    name = next(names)
                    shape, dtype = invocation.outputs[name]
                    result.outputs[name] = np.frombuffer(data, dtype).reshape(shape).copy()
                case ["divided"]:
                    result.coverage[UNDIVIDED] = True
                case ["attachment", name]:
                    result.attachments[name] = data
                case ["ended"]:
                    ended = text
                case ["refused"]:
                    raise OpkitError(text)
        if result.usage:
            result.usage = replace(result.usage, heap=heap)
        if result.fault:
            result.fault = place + result.fault
        if ended:
            result.timed_out = ended.startswith("late")
            sanitizer = explain(result.printed, self.root)
            result.fault = sanitizer or _how_it_ended(result.stage, ended, limit)
        if result.fault:
            result.outputs = {}
        if result.printed and self.executor.measures and not self.executor.abi:
            line = printable(shortened(result.printed.partition("\n")[0]))
            result.notes.append(f"prints '{line}': on a board, into the application's log")
        return result

    def _line(self, offset: int) -> str:
        """Return "file:line: " of a return address in the library; empty if unknown."""
        line = addr2line(self.library, offset) if self.library and offset > 0 else None
        return f"{line}: " if line else ""

    def _lines(self, callers: Sequence[str], base: int) -> str:
        return "".join(self._line(int(caller) - base) for caller in callers)

    def close(self) -> None:
        """End the harness; the next invocation starts another one."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None


class HarnessKernel:
    """A kernel of an operator in the harness; implements Kernel.

    Args:
        spec: the operator description.
        executor: the executor of the harness.
        root: the repository.
        convention: the runtime's calling convention.
        attachments: name -> bytes for the runtime's part of the harness, besides the values.
        library: the kernel's library on this PC, if it has debug information.
    """

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
        self.convention = convention
        self.attachments = attachments or {}
        # Emulators do not limit it, and sanitizers take more of it.
        stack_size = STACK_SIZE if executor.measures and not executor.abi else 0
        self.harness = Harness(executor, root, library, stack_size)
        # The instruction set does not matter for state, so a sample saves these runs.
        self.keeps_state = not executor.sampled
        # The kernel for a target has the threads of the product.
        is_checked = self.spec.has_threads and convention.has_threads and not executor.abi
        self.thread_counts = THREAD_COUNTS if is_checked else ()
        self.has_loops = is_checked and not spec.elementwise and has_loop(root, spec)
        self.flushed_dtypes = ABIS[executor.abi].flushed_dtypes if executor.abi else ()

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel; see Kernel.

        Raises:
            OpkitError: the library does not match op.yml, or cannot be loaded.
            RefusedError: the runtime refuses to run the operator with these values.
        """
        tensors = marshal_tensors(self.spec, invocation, self.convention.tensor_types)
        values = self.convention.marshal(self.spec.params, invocation.params)
        result = self.harness.run(tensors, values, self.attachments_of(tensors), options)
        if options.threads > 1 and self.has_loops:
            result.coverage.setdefault(UNDIVIDED, False)
        return _converted(result, invocation)

    def attachments_of(self, tensors: Invocation) -> Mapping[str, bytes]:
        """Return the attachments of an invocation with tensors of the runtime's types."""
        return self.attachments

    def run_batch(
        self, invocations: Sequence[Invocation], fill: int, alternates: bool, limit: float
    ) -> dict[int, RunResult]:
        """Run the kernel on several invocations in one process; see StatefulKernel.

        Raises:
            OpkitError: see run.
        """
        types, params = self.convention.tensor_types, self.spec.params
        tensors = [marshal_tensors(self.spec, each, types) for each in invocations]
        values = [self.convention.marshal(params, each.params) for each in invocations]
        requests = [
            request(
                each,
                value,
                self.attachments_of(each),
                RunOptions(fill, limit=limit),
                self.harness.stack_size,
            )
            for each, value in zip(tensors, values, strict=True)
        ]
        results = self.harness.run_batch(requests, tensors, 1, limit, alternates)
        return {index: _converted(each, invocations[index]) for index, each in results.items()}

    def close(self) -> None:
        """End the harness; the next invocation starts another one."""
        self.harness.close()


def _converted(result: RunResult, invocation: Invocation) -> RunResult:
    """Return a result with the outputs' dtypes of the invocation."""
    with np.errstate(all="ignore"):  # out of range becomes infinite
        for name, array in result.outputs.items():
            output = array.astype(invocation.outputs[name][1], copy=False)
            if array.dtype.kind == "f" and output.dtype.kind != "f":
                inexact = array[output != array][:1]
                result.events += [
                    f"output '{name}' holds {value:g}, which {output.dtype} cannot represent"
                    for value in inexact
                ]
            result.outputs[name] = output
    return result


def marshal_tensors(
    spec: OpSpec, invocation: Invocation, tensor_types: Mapping[str, str]
) -> Invocation:
    """Return the invocation with tensors of the runtime's types, in the order of op.yml."""

    def type_of(dtype: DTypeLike) -> str:
        return tensor_types[np.dtype(dtype).name]

    inputs = {tensor.name: invocation.inputs[tensor.name] for tensor in spec.inputs}
    outputs = {tensor.name: invocation.outputs[tensor.name] for tensor in spec.outputs}
    return replace(
        invocation,
        inputs={
            name: array.astype(type_of(array.dtype), copy=False) for name, array in inputs.items()
        },
        outputs={name: (shape, type_of(dtype)) for name, (shape, dtype) in outputs.items()},
    )


# ---- The protocol --------------------------------------------------------------------------------


def batch(count: int, alternates: bool = False, counters: tuple[int, int] = (0, 0)) -> bytes:
    """Return the first line of a request; those of its invocations follow. See protocol.c."""
    return f"batch {count} {int(alternates)} {counters[0]} {counters[1]}\n".encode()


def request(
    tensors: Invocation,
    values: Sequence[Value],
    attachments: Mapping[str, bytes],
    options: RunOptions,
    stack_size: int = 0,
) -> Iterator[bytes]:
    """Yield the parts of an invocation's request to run the kernel; see protocol.c.

    Args:
        tensors: the inputs and outputs in the runtime's types and order.
        values: the values after the tensors.
        attachments: name -> bytes for the runtime's part of the harness.
        options: how the kernel runs.
        stack_size: the bytes of its stack; 0: not limited.
    """

    def value(role: str, value: Value) -> bytes:
        shape = value.shape
        words = (role, value.type, value.name[:LONGEST_NAME], len(shape), *shape, len(value.data))
        return " ".join(map(str, words)).encode() + b"\n" + value.data

    count = len(tensors.inputs) + len(tensors.outputs) + len(values)
    guards = "before" if options.guards_before else "behind"
    unguarded = "profiled" if options.profiled else "plain"
    mode = unguarded if options.fill is None else guards
    run = (mode, options.fill or 0, options.repeat, options.limit, options.threads)
    how = (*run, stack_size, count, len(attachments))
    yield f"run {' '.join(map(str, how))}\n".encode()
    for name, each in tensors.inputs.items():
        array: Array = np.ascontiguousarray(each)
        yield value("input", Value(name, array.dtype.name, array.shape, array.tobytes()))
    for name, (shape, dtype) in tensors.outputs.items():
        yield value("output", Value(name, np.dtype(dtype).name, shape, b""))
    for param in values:
        yield value("param", param)
    for name, data in attachments.items():
        yield f"{name} {len(data)}\n".encode() + data


def _how_it_ended(stage: str, ended: str, limit: float) -> str:
    how, _, code = ended.partition(" ")
    match how:
        case "late":
            return f"{stage} timed out after {limit:g} s, and SIGALRM does not stop it"
        case "exit":
            return f"{stage} ends its process with status {code}: an operator must not exit"
        case "stopped":
            return f"{stage} stops its process with {_signal_name(int(code))}"
        case _:
            return f"{stage} ends its process with {_signal_name(int(code))}"


def _signal_name(code: int) -> str:
    with suppress(ValueError):
        return signal.Signals(code).name
    return f"signal {code}"


_WRITTEN_IN_INITIALIZER = (
    "{1}: the initializer writes '{0}', which is _Thread_local; an application may run the model "
    "in another thread, which does not see that: keep it in the node's own memory"
)


class _EndedError(Exception):
    """The harness ended or timed out; `stderr` has its messages."""

    def __init__(self, how: str, stderr: str) -> None:
        last = stderr.strip().splitlines()[-MAX_STDERR_LINES:]
        super().__init__("\n".join([how, *(f"  {line}" for line in last)]))
        self.stderr = stderr


def _record(worker: Worker) -> tuple[str, bytes]:
    what, _, size = worker.line().decode(errors="replace").rpartition(" ")
    return what, worker.take(int(size))
