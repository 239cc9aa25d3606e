"""What a kernel is called with, what comes of it, and who runs it.

What becomes of a param's value on its way into the kernel was measured on librknn_runtime 1.7.5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from opkit.description.spec import MAX_ITEMS, Param
from opkit.description.types import ELEMENT_TYPES, ElementType
from opkit.errors import OpkitError

Array = NDArray[Any]

# The values of OpenVX's names.
TYPES = {row.vx_name: row.vx_number for row in ELEMENT_TYPES.values() if row.vx_name}

# Of which a kernel can get a tensor.
TENSOR_TYPES = {
    np.dtype(row.name): row.vx_number for row in ELEMENT_TYPES.values() if row.computed_as
}

STATUS_NAMES = {
    -1: "VX_FAILURE",
    -2: "VX_ERROR_NOT_IMPLEMENTED",
    -3: "VX_ERROR_NOT_SUPPORTED",
    -4: "VX_ERROR_NOT_SUFFICIENT",
    -5: "VX_ERROR_NOT_ALLOCATED",
    -6: "VX_ERROR_NOT_COMPATIBLE",
    -7: "VX_ERROR_NO_RESOURCES",
    -8: "VX_ERROR_NO_MEMORY",
    -9: "VX_ERROR_OPTIMIZED_AWAY",
    -10: "VX_ERROR_INVALID_PARAMETERS",
    -11: "VX_ERROR_INVALID_MODULE",
    -12: "VX_ERROR_INVALID_REFERENCE",
    -13: "VX_ERROR_INVALID_LINK",
    -14: "VX_ERROR_INVALID_FORMAT",
    -15: "VX_ERROR_INVALID_DIMENSION",
    -16: "VX_ERROR_INVALID_VALUE",
    -17: "VX_ERROR_INVALID_TYPE",
    -18: "VX_ERROR_INVALID_GRAPH",
    -19: "VX_ERROR_INVALID_NODE",
    -20: "VX_ERROR_INVALID_SCOPE",
    -21: "VX_ERROR_GRAPH_SCHEDULED",
    -22: "VX_ERROR_GRAPH_ABANDONED",
    -23: "VX_ERROR_MULTIPLE_WRITERS",
    -24: "VX_ERROR_REFERENCE_NONZERO",
}

INT32_ARRAY = "VX_TYPE_INT32"  # the type of an array's items


def status_name(status: int) -> str:
    """Return a status as messages show it."""
    return f"{STATUS_NAMES.get(status, 'status')} ({status})"


# ---- Values on their way into the kernel --------------------------------------------------------


class RefusedError(OpkitError):
    """The board would not run the operator with this value."""


@dataclass(frozen=True)
class Scalar:
    """A scalar as the kernel gets it: its type and its bytes, little endian."""

    type: str
    data: bytes


@dataclass(frozen=True)
class Items:
    """An array as the kernel gets it: items of type int32, with no room for more."""

    items: tuple[int, ...]


def _whole(number: float, element: ElementType) -> int:
    """Convert as the processor does: toward zero, saturating, and 0 for NaN."""
    limits = element.limits
    assert limits is not None
    if math.isnan(number):
        return 0
    low, high = limits
    return (high if number > 0 else low) if math.isinf(number) else min(max(int(number), low), high)


def marshal(param: Param, value: Any) -> Scalar | Items:
    """Return what the kernel gets for a param's value.

    Values come out of the model as numbers of type double; what does not fit is cut, not refused.

    Raises:
        RefusedError: the node would not be created with this value.
    """
    type_ = param.type
    if type_.delivered is None:
        raise RefusedError(f"param '{param.name}': the board refuses the type {type_.name}")
    if type_.is_list:
        items = tuple(_whole(float(item), type_.element) for item in value)
        if not 1 <= len(items) <= MAX_ITEMS:
            raise RefusedError(
                f"param '{param.name}' has {len(items)} items; the board takes 1 to {MAX_ITEMS}"
            )
        return Items(items)
    number = float(value)
    if type_.converted is not None:
        whole = _whole(number, type_.converted) % 2**64
        return Scalar(type_.delivered, whole.to_bytes(8, "little")[: type_.size])
    with np.errstate(over="ignore"):
        return Scalar(type_.delivered, np.dtype(type_.element.name).type(number).tobytes())


# ---- Invocations and what comes of them ---------------------------------------------------------


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
        events: what a board accepts in silence, but nobody can mean.
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
    leaks: list[str] = field(default_factory=list)
    printed: str = ""
    attachments: dict[str, bytes] = field(default_factory=dict)


class Kernel(Protocol):
    """One kernel of one operator, wherever it runs.

    Attributes:
        keeps_state: whether a run can depend on the one before in the same process, so that it is
            worth while to repeat it.
    """

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
