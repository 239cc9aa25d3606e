"""What the stand-ins for libOpenCL record of a run of an operator; see host_opencl/session.h."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opkit.opencl.events import Event, read_log, read_unwritten
from opkit.opencl.pc_compiler import Program
from opkit.runtimes.invocation import Array


@dataclass(frozen=True)
class Launched:
    """A launch of a kernel.

    Attributes:
        kernel: its name.
        global_size: the work items, in as many dimensions as the launch has.
        local_size: those of a group; empty: a choice of the driver behind the shim.
    """

    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]


@dataclass
class ClRunResult:
    """The records of a run.

    Attributes:
        launches: in order; empty: no GPU kernel ran.
        events: see Event.
        undefined: undefined behavior: sentences that begin with file:line.
        unwritten: output -> number of elements that no launch has written, and index of the first.
        alive: kind of OpenCL's objects -> count of those that were not released.
        misuse: forbidden calls of OpenCL: sentences.
    """

    launches: list[Launched] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    undefined: list[str] = field(default_factory=list)
    unwritten: dict[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    alive: dict[str, int] = field(default_factory=dict)
    misuse: list[str] = field(default_factory=list)

    def problems(self) -> list[str]:
        """Return everything that is wrong, each as a sentence."""
        return [
            *map(str, self.events),
            *self.undefined,
            *(
                f"output '{name}': the GPU kernel never wrote {count} elements; the first is "
                f"{name}{list(index)}"
                for name, (count, index) in self.unwritten.items()
            ),
            *self.misuse,
            *(
                f"{count} OpenCL object{'s' if count > 1 else ''} never released: {kind}"
                for kind, count in self.alive.items()
            ),
        ]


def read_records(
    log: Iterable[str],
    attachments: Mapping[str, bytes],
    outputs: Mapping[str, Array],
    program: Program | None = None,
) -> tuple[ClRunResult, list[str]]:
    """Return the records among a run's log and attachments, and the other lines of the log.

    Args:
        log: the lines.
        attachments: those that came out of the harness.
        outputs: name -> array.
        program: the program that the emulator ran; None with the shim.
    """
    read = read_log(log, program)
    result = ClRunResult(events=read.events, undefined=read.undefined)
    result.unwritten = read_unwritten(attachments, outputs)
    others = []
    for line in read.others:
        match line.split("\t"):
            case ["launch", kernel, global_size, *local_size]:  # without one, the driver chooses
                result.launches.append(
                    Launched(kernel, _sizes(global_size), _sizes("".join(local_size)))
                )
            case ["alive", kind, count]:
                result.alive[kind] = int(count)
            case ["misuse", sentence]:
                result.misuse.append(sentence)
            case _:
                others.append(line)
    return result, others


def _sizes(text: str) -> tuple[int, ...]:
    return () if text == "-" else tuple(map(int, text.split(",")))
