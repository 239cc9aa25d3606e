"""What a kernel is called with, what comes of it, and who runs it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import DTypeLike, NDArray

from opkit.description.limits import Limits
from opkit.description.spec import Param
from opkit.errors import OpkitError

Array = NDArray[Any]


@dataclass(frozen=True)
class Invocation:
    """What a kernel is called with.

    Attributes:
        inputs: name -> array, in numpy's order of dimensions (slowest first), ranks 1 to 6.
        params: name -> value, of every param.
        outputs: name -> shape and dtype, in the order of the description.
    """

    inputs: Mapping[str, Array]
    params: Mapping[str, Any]
    outputs: Mapping[str, tuple[tuple[int, ...], DTypeLike]]


@dataclass
class RunResult:
    """What came of running a kernel.

    Attributes:
        status: 0, or the first error.
        stage: which of the operator's functions gave the status.
        outputs: name -> array; empty unless the status is 0 and there is no fault.
        seconds: the shortest time that the kernel function took.
        fault: a sentence, when the kernel did not come back by itself.
        timed_out: whether that is because it took longer than it may.
        log: the lines that the operator has logged for its runtime.
        events: what a device accepts in silence, but nobody can mean.
        notes: sentences about what is no error, but to be known.
        leaks: what the operator took and did not give back.
        printed: what it wrote to stdout and stderr; of a long text the beginning and the end.
        attachments: what the runtime's room alone can read.
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
    leaks: list[str] = field(default_factory=list)
    printed: str = ""
    attachments: dict[str, bytes] = field(default_factory=dict)


class RefusedError(OpkitError):
    """The runtime would not run the operator with this value."""


class LeftOutError(OpkitError):
    """A case is one that cannot be run, although nothing is wrong with it."""


@dataclass(frozen=True)
class Value:
    """A value that a kernel gets besides its tensors.

    Attributes:
        name: of a param, or of what the runtime makes of several.
        type: the type of a number, as the runtime's part of the harness calls it.
        shape: () for a single number.
        data: the bytes, little endian.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    data: bytes


@dataclass(frozen=True)
class CallingConvention:
    """How a runtime calls kernels.

    Attributes:
        tensor_types: the dtypes of tensors that it takes -> the dtype that a kernel gets for one.
        input_types: the dtypes of the inputs that a model of it can have.
        output_types: the dtypes of the outputs that a model of it can have.
        value: (param, value) -> what a kernel gets for it. Raises RefusedError: the runtime would
            not run the operator with it.
        statuses: status -> its name.
        has_shape_rule: whether a rule in C says the shapes of outputs, which a check compares too.
    """

    tensor_types: Mapping[str, str]
    input_types: Collection[str]
    output_types: Collection[str]
    value: Callable[[Param, Any], Value]
    statuses: Mapping[int, str] = field(default_factory=dict)
    has_shape_rule: bool = False

    def marshal(self, params: Sequence[Param], values: Mapping[str, Any]) -> list[Value]:
        """Return what a kernel gets for the values of params.

        Args:
            params: all of the operator's.
            values: name -> value, of every param.

        Raises:
            RefusedError: the runtime would not run the operator with one of them.
        """
        return [self.value(param, values[param.name]) for param in params]

    def status_name(self, status: int) -> str:
        """Return a status as messages show it."""
        name = self.statuses.get(status)
        return f"{name} ({status})" if name else f"status {status}"


def numbers_of(param: Param, value: Any, limits: Limits) -> list[Any]:
    """Return the numbers in a param's value.

    Raises:
        RefusedError: a list has no items, or more than the runtime takes.
    """
    numbers = list(value) if param.type.is_list else [value]
    if not 1 <= len(numbers) <= limits.items:
        raise RefusedError(
            f"param '{param.name}' has {len(numbers)} items (expected 1 to {limits.items:,}, the "
            f"limit of {limits.device})"
        )
    return numbers


def check_integers(param: Param, numbers: Sequence[Any], largest: float = math.inf) -> None:
    """Refuse numbers that are not integers of a param's type, or greater than `largest`.

    Raises:
        RefusedError: one of them is such.
    """
    assert param.type.element.limits is not None
    low, limit = param.type.element.limits
    high = min(limit, largest)
    for number in numbers:
        if not low <= number <= high or number != int(number):
            raise RefusedError(
                f"param '{param.name}' is {number} (expected a whole number from {low} to {high})"
            )


class Kernel(Protocol):
    """One kernel of one operator, wherever it runs.

    Attributes:
        convention: how it is called.
        keeps_state: whether a run can depend on the one before in the same process, so that it is
            worth while to repeat it.
    """

    @property
    def convention(self) -> CallingConvention:
        """See above."""

    @property
    def keeps_state(self) -> bool:
        """See above."""

    def run(
        self, invocation: Invocation, fill: int | None = None, repeat: int = 1, limit: float = 10
    ) -> RunResult:
        """Run the kernel on arrays.

        Args:
            invocation: what with.
            fill: the byte that outputs, and memory that the operator takes, hold beforehand; the
                memory then is guarded as well. None: at full speed, for measuring time.
            repeat: how often the kernel function runs.
            limit: seconds that each of the operator's functions may take.
        """


class SimulatedKernel(Kernel, Protocol):
    """The reference as part of a model that a runtime's converter has converted and simulates.

    Its run may raise LeftOutError.

    Attributes:
        precision: dtype of an output -> the dtype to which the simulator rounds it.
        max_ulp: how far an output may be from the reference, in values of that dtype.
    """

    @property
    def precision(self) -> Mapping[str, str]:
        """See above."""

    @property
    def max_ulp(self) -> int:
        """See above."""
