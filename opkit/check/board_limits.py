"""Notes on passing kernels that take more of a board than it may have: stack, heap, time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from opkit.check.results import Result, time_text
from opkit.check.traits import CaseTraits
from opkit.runtimes.invocation import STACK_SIZE, Usage

MAX_HEAP = 16 << 20  # bytes, unless the tensors are large
MAX_COPIES = 16  # of the tensors, on the heap
MIN_SECONDS = 0.01  # of a call: shorter ones depend on the PC
COPY_SECONDS = 2.5e-10  # for a byte of memcpy
MAX_COPY_TIMES = 1000
PAIR_SECONDS = 1e-7  # for two elements: more than those of DFT, MatMul, or of a slow sort


def notes(results: Iterable[Result]) -> Iterator[str]:
    """Yield a sentence on each limit that kernels exceed, with the case that shows most."""
    passed = [result for result in results if result.usage and not result.problem]
    for excess in (_stack, _heap, _waiting, _slow):
        found = [
            (amount, text, result)
            for result in passed
            if result.usage
            for amount, text in excess(result.usage, result.traits)
        ]
        if found:
            _, text, worst = max(found, key=lambda one: one[0])
            kernels = "; ".join(dict.fromkeys(result.kernel for _, _, result in found))
            yield f"{kernels}: {text}, for example in case {worst.case}"


_Excess = Iterator[tuple[float, str]]
"""Nothing, or the amount of a resource beyond its limit, and a sentence."""


def _stack(usage: Usage, traits: CaseTraits) -> _Excess:
    if usage.stack > STACK_SIZE / 2:
        yield (
            usage.stack,
            f"a call takes {size_text(usage.stack)} of the {size_text(STACK_SIZE)} of stack that a "
            "thread on the board may have (malloc large arrays)",
        )


def _heap(usage: Usage, traits: CaseTraits) -> _Excess:
    tensors = _bytes(traits)
    if usage.heap > max(MAX_HEAP, MAX_COPIES * tensors):
        yield (
            usage.heap,
            f"a call has {size_text(usage.heap)} from malloc at a time, for tensors of "
            f"{size_text(tensors)}; a board has little memory, and malloc may return NULL there",
        )


def _waiting(usage: Usage, traits: CaseTraits) -> _Excess:
    if usage.waiting > max(MIN_SECONDS, 3 * usage.processor):
        yield (
            usage.waiting,
            f"a call waits for {time_text(usage.waiting)} (a sleep, a file, a lock?), and so does "
            "each inference on the board",
        )


def _slow(usage: Usage, traits: CaseTraits) -> _Excess:
    copy = COPY_SECONDS * _bytes(traits)
    pairs = (traits.elements + sum(each.elements for each in traits.outputs.values())) ** 2
    if usage.processor > max(MIN_SECONDS, MAX_COPY_TIMES * copy, PAIR_SECONDS * pairs):
        yield (
            usage.processor,
            f"a call computes for {time_text(usage.processor)}, more than {MAX_COPY_TIMES:,} times "
            f"as long as memcpy of its tensors ({size_text(_bytes(traits))}), and a board is "
            "slower (a loop that runs too often?)",
        )


@dataclass(frozen=True)
class Peak:
    """The most memory of a kernel in its cases.

    Attributes:
        kernel: its name.
        stack: bytes, as text.
        heap: bytes from malloc at a time, as text.
    """

    kernel: str
    stack: str
    heap: str


def peaks(results: Iterable[Result]) -> list[Peak]:
    """Return the peak of each measured kernel."""
    usages: dict[str, list[Usage]] = {}
    for result in results:
        if result.usage:
            usages.setdefault(result.kernel, []).append(result.usage)
    return [
        Peak(
            kernel,
            size_text(max(usage.stack for usage in found)),
            size_text(max(usage.heap for usage in found)),
        )
        for kernel, found in usages.items()
    ]


def _bytes(traits: CaseTraits) -> int:
    """Return the size of a case's tensors."""
    tensors = [*traits.inputs.values(), *traits.outputs.values()]
    return sum(each.elements * np.dtype(each.dtype).itemsize for each in tensors)


def size_text(size: int) -> str:
    """Return a size in bytes, formatted for a sentence."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"
