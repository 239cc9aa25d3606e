"""What opkit/opencl/runtime records of a kernel: events, undefined behavior, unwritten elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from opkit.check.debug_info import addr2line
from opkit.opencl.pc_compiler import Program
from opkit.runtimes.invocation import Array

_UNWRITTEN = "unwritten:"


@dataclass(frozen=True)
class Event:
    """A likely bug of a kernel, or an action with another effect on some boards.

    Attributes:
        kind: the kind, for instance `write outside`.
        tensor: the name of the tensor, or empty.
        count: the number of elements, or of occurrences.
        at: x, y, z of the first occurrence; in a buffer, the index of the element.
        item: the work item (its global id) of the first occurrence.
        line: the source's line of the first occurrence, or None.
    """

    kind: str
    tensor: str
    count: int
    at: tuple[int, ...]
    item: tuple[int, ...]
    line: str | None

    def __str__(self) -> str:
        tensor = f" '{self.tensor}'" if self.tensor else ""
        place = f"{self.line}: " if self.line else ""
        first = f"element {self.at[0]}" if len(self.at) == 1 else f"(x, y, z) = {self.at}"
        return (
            f"{place}{self.kind}{tensor}, {self.count} times; first at {first} by work item "
            f"{self.item}"
        )


@dataclass
class KernelLog:
    """The log of a run.

    Attributes:
        events: see Event; unordered.
        undefined: undefined behavior: sentences that begin with file:line.
        others: the other lines.
    """

    events: list[Event] = field(default_factory=list)
    undefined: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def read_log(lines: Iterable[str], program: Program | None) -> KernelLog:
    """Return what a log says of a kernel of a program; without one, events have no lines."""
    log = KernelLog()
    for line in lines:
        word, *rest = line.split("\t")
        if word == "event":
            kind, tensor, count, at, item, address = rest
            place = _place(program, address)
            log.events.append(Event(kind, tensor, int(count), _numbers(at), _numbers(item), place))
        elif word == "undefined":
            file, source_line, column, what, item = rest
            log.undefined.append(
                f"{file}:{source_line}:{column}: {what}; work item {_numbers(item)}"
            )
        elif word == "overrun":
            what, item, address = rest
            place = _place(program, address) or (str(program.source) if program else None)
            log.undefined.append(f"{place}: {what}; work item {_numbers(item)}")
        else:
            log.others.append(line)
    return log


def read_unwritten(
    attachments: Mapping[str, bytes], outputs: Mapping[str, Array]
) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Return output -> number of elements that were never written, and index of the first.

    Args:
        attachments: those that came out of the harness.
        outputs: name -> array.
    """
    unwritten = {}
    for name, numbers in attachments.items():
        if name.startswith(_UNWRITTEN):
            output = name.removeprefix(_UNWRITTEN)
            missing, first = map(int, numbers.split())
            index = np.unravel_index(first, outputs[output].shape)
            unwritten[output] = (missing, tuple(map(int, index)))
    return unwritten


def _place(program: Program | None, address: str) -> str | None:
    return addr2line(program.library, int(address)) if program else None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))
