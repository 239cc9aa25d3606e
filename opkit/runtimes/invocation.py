"""The invocation of a kernel: arguments, result, calling convention and protocol."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from numpy.typing import DTypeLike, NDArray

from opkit.common.errors import OpkitError
from opkit.description.spec import Param
from opkit.description.types import Limits

Array = NDArray[Any]

STACK_SIZE = 512 << 10
"""The bytes of a kernel's stack in a check. All runtimes call kernels in the application's thread,
which chooses the size: by default 8 MiB on Linux and 1 MiB on Android, often less. See
docs/evidence.yml."""


@dataclass(frozen=True)
class Invocation:
    """The arguments of a kernel.

    Attributes:
        inputs: name -> array, in numpy's order of dimensions (slowest first), ranks 1 to 6.
        params: name -> value, of every param.
        outputs: name -> shape and dtype, in the order of the description.
    """

    inputs: Mapping[str, Array]
    params: Mapping[str, Any]
    outputs: Mapping[str, tuple[tuple[int, ...], DTypeLike]]


@dataclass(frozen=True)
class RunOptions:
    """The conditions of a kernel's run.

    Attributes:
        fill: the initial byte of outputs and of allocated memory, which are then guarded, too;
            None: run at full speed, for measuring time.
        repeat: the count of runs of the kernel function.
        limit: the timeout of each of the operator's functions, in seconds.
        guards_before: whether guarded memory begins at an inaccessible page; else it ends at one. A
            kernel with guards on both sides ignores it.
        threads: the count of threads of a loop, for a ThreadedKernel.
        profiled: whether to measure the phases of each run, at full speed.
    """

    fill: int | None = None
    repeat: int = 1
    limit: float = 10
    guards_before: bool = False
    threads: int = 1
    profiled: bool = False


AT_FULL_SPEED = RunOptions()


@dataclass(frozen=True)
class Usage:
    """The resources that a kernel takes.

    Attributes:
        stack: the most bytes of its stack; 0: not measured.
        heap: the most bytes from malloc at a time; 0: not measured.
        processor: the minimum time of a call on a processor, in seconds, of all threads.
        waiting: the minimum time of a call in functions of the system that wait, in seconds.
    """

    stack: int
    heap: int
    processor: float
    waiting: float

    def joined(self, other: Usage) -> Usage:
        """Return the usage of two runs."""
        return Usage(
            max(self.stack, other.stack),
            max(self.heap, other.heap),
            min(self.processor, other.processor),
            min(self.waiting, other.waiting),
        )


@dataclass
class RunResult:
    """The result of a kernel's run.

    Attributes:
        status: 0, or the first error.
        stage: the name of the operator's function that returned the status.
        outputs: name -> array; empty unless the status is 0 and there is no fault.
        seconds: the minimum time of the kernel function.
        fault: the problem, if the kernel did not return, such as a crash; else empty.
        timed_out: whether the fault is a timeout.
        log: the lines that the operator logged by its runtime.
        events: likely bugs that the device does not report.
        notes: informational messages.
        coverage: a note on a gap of the cases -> whether this run fills the gap.
        leaks: the resources that the operator did not release.
        printed: its output on stdout and stderr; of a long text, the beginning and the end.
        attachments: data for the runtime's own code.
        profiles: a record for each profiled run; see opkit.check.profile.
        usage: the resources of the kernel; None: not measured.
    """

    status: int = 0
    stage: str = ""
    outputs: dict[str, Array] = field(default_factory=dict)
    seconds: float = math.inf
    fault: str = ""
    timed_out: bool = False
    log: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    coverage: dict[str, bool] = field(default_factory=dict)
    leaks: list[str] = field(default_factory=list)
    printed: str = ""
    attachments: dict[str, bytes] = field(default_factory=dict)
    profiles: list[str] = field(default_factory=list)
    usage: Usage | None = None


class RefusedError(OpkitError):
    """The runtime refuses to run the operator with this value."""


class LeftOutError(OpkitError):
    """A valid case cannot be run by this kernel; the message names such cases and the reason."""


@dataclass(frozen=True)
class Value:
    """A kernel's argument besides its tensors.

    Attributes:
        name: the name of a param, or of the runtime's argument for several params.
        type: the type of a number, by its name in the runtime's part of the harness.
        shape: () for a single number.
        data: the bytes, little endian.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    data: bytes


@dataclass(frozen=True)
class CallingConvention:
    """The calling convention of a runtime: marshaling of values, names of statuses.

    Attributes:
        tensor_types: supported dtype of a tensor -> the dtype of the kernel's argument.
        input_types: the dtypes of inputs in its models.
        output_types: the dtypes of outputs in its models.
        value: (param, value) -> the kernel's argument. Raises RefusedError: the runtime refuses to
            run the operator with this value.
        statuses: status -> its name.
        has_threads: whether loops of its kernels run in several threads, if op.yml says so.
        has_shape_rule: whether a rule in C sets the shapes of outputs; a check compares them, too.
    """

    tensor_types: Mapping[str, str]
    input_types: Collection[str]
    output_types: Collection[str]
    value: Callable[[Param, Any], Value]
    statuses: Mapping[int, str] = field(default_factory=dict)
    has_threads: bool = False
    has_shape_rule: bool = False

    def marshal(self, params: Sequence[Param], values: Mapping[str, Any]) -> list[Value]:
        """Convert the values of params to a kernel's arguments.

        Args:
            params: all params of the operator.
            values: name -> value, of every param.

        Raises:
            RefusedError: the runtime refuses to run the operator with one of them.
        """
        return [self.value(param, values[param.name]) for param in params]

    def status_name(self, status: int) -> str:
        """Return the name of a status, for messages."""
        name = self.statuses.get(status)
        return f"{name} ({status})" if name else f"status {status}"


def numbers_of(param: Param, value: Any, limits: Limits) -> list[Any]:
    """Return the numbers in a param's value.

    Raises:
        RefusedError: a list is empty, or longer than the runtime's limit.
    """
    numbers = list(value) if param.type.is_list else [value]
    if not 1 <= len(numbers) <= limits.items:
        raise RefusedError(
            f"param '{param.name}' has {len(numbers)} items (expected 1 to {limits.items:,}, the "
            f"limit of {limits.device})"
        )
    return numbers


def check_integers(param: Param, numbers: Sequence[Any], largest: float = math.inf) -> None:
    """Refuse numbers that are not integers in the range of a param's type, up to `largest`.

    Raises:
        RefusedError: a number is invalid.
    """
    assert param.type.element.limits is not None
    low, limit = param.type.element.limits
    high = min(limit, largest)
    for each in numbers:
        if not low <= each <= high or each != int(each):
            raise RefusedError(
                f"param '{param.name}' is {each} (expected a whole number from {low} to {high})"
            )


class Kernel(Protocol):
    """A kernel of an operator, on any executor.

    Attributes:
        convention: its calling convention.
        keeps_state: whether a run can depend on an earlier run in the same process; only then a
            repetition is useful.
    """

    @property
    def convention(self) -> CallingConvention:
        """See above."""

    @property
    def keeps_state(self) -> bool:
        """See above."""

    def run(self, invocation: Invocation, options: RunOptions = AT_FULL_SPEED) -> RunResult:
        """Run the kernel on arrays.

        Args:
            invocation: the arguments.
            options: how it runs.
        """


@runtime_checkable
class StatefulKernel(Kernel, Protocol):
    """A kernel with state in its process, which several invocations can share."""

    def run_batch(
        self, invocations: Sequence[Invocation], fill: int, alternates: bool, limit: float
    ) -> dict[int, RunResult]:
        """Run the kernel on several invocations in one process, each with a node of its own.

        Args:
            invocations: the arguments of each.
            fill: see RunOptions; memory is guarded.
            alternates: whether two nodes are alive at a time, and each runs again beside the next
                one; else a node is released before the next one is made.
            limit: see RunOptions.

        Returns:
            Index -> result; a fault ends the process, so later invocations have none.
        """


@runtime_checkable
class ThreadedKernel(Kernel, Protocol):
    """A kernel with parallel loops, in as many threads as a run asks for.

    Attributes:
        thread_counts: the counts for a check besides 1; empty: its loops are serial.
    """

    @property
    def thread_counts(self) -> Sequence[int]:
        """See above."""


@runtime_checkable
class ProfiledKernel(Kernel, Protocol):
    """A kernel with a build that measures the phases of its calls."""

    def profile(self, invocation: Invocation, repeat: int, limit: float) -> RunResult:
        """Run the profiled build several times.

        Args:
            invocation: the arguments.
            repeat: see RunOptions.
            limit: see RunOptions.

        Raises:
            OpkitError: that build does not exist.
        """


class VendorKernel(Kernel, Protocol):
    """The kernel in the vendor's own runtime, on a device or above a stand-in for its driver.

    Its run may raise LeftOutError.

    Attributes:
        precision: dtype of a tensor -> the dtype to which the runtime rounds inputs and outputs.
        reads_reference: whether its model is made with the file of the reference.
    """

    @property
    def precision(self) -> Mapping[str, str]:
        """See above."""

    @property
    def reads_reference(self) -> bool:
        """See above."""


@runtime_checkable
class FlushingKernel(Kernel, Protocol):
    """A kernel in a process that replaces subnormal floats by zeros.

    Attributes:
        flushed_dtypes: the dtypes of these floats.
    """

    @property
    def flushed_dtypes(self) -> Collection[str]:
        """See above."""


class SimulatedKernel(Kernel, Protocol):
    """The reference in a model that a runtime's converter converts and simulates.

    Its run may raise LeftOutError.

    Attributes:
        precision: dtype of an output -> the dtype to which the simulator rounds it.
        max_ulp: the maximum difference from the reference, in units of that dtype's last place.
        vendor_operator: the name of the converter's own operator, which runs in place of the
            reference; empty: the reference itself runs.
    """

    @property
    def precision(self) -> Mapping[str, str]:
        """See above."""

    @property
    def max_ulp(self) -> int:
        """See above."""

    @property
    def vendor_operator(self) -> str:
        """See above."""
