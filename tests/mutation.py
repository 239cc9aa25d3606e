"""Damage files reproducibly, and measure the reading of them."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from opkit.common.errors import OpkitError

_NUMBERS = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63,
    2**64 - 1,
)
_MOST_CHANGES = 6
_EDGE = 1024  # headers and tables are near the beginning and the end


def mutants(corpus: Sequence[bytes], count: int, seed: int = 0) -> Iterator[bytes]:
    """Yield damaged copies of files, the same copies for the same seed.

    Args:
        corpus: valid files.
        count: how many to make.
        seed: of the random numbers.
    """
    chance = random.Random(seed)
    for _ in range(count):
        data = bytearray(chance.choice(corpus))
        for _ in range(chance.randint(1, _MOST_CHANGES)):
            chance.choice(_CHANGES)(chance, data, corpus)
        yield bytes(data)


def _place(chance: random.Random, data: bytearray) -> int:
    edge = min(_EDGE, len(data))
    first, last = chance.choice(
        ((0, edge), (len(data) - edge, len(data)), (0, len(data)), (0, min(64, len(data))))
    )
    return chance.randint(first, last)


def _byte(chance: random.Random, data: bytearray, corpus: Sequence[bytes]) -> None:
    at = _place(chance, data)
    data[at : at + 1] = bytes([chance.randrange(256)])


def _number(chance: random.Random, data: bytearray, corpus: Sequence[bytes]) -> None:
    size = chance.choice((1, 2, 4, 8))
    at = _place(chance, data) // size * size
    value = chance.choice((*_NUMBERS, len(data), chance.randrange(len(data) + 1)))
    data[at : at + size] = (value % 256**size).to_bytes(size, "little")


def _copy(chance: random.Random, data: bytearray, corpus: Sequence[bytes]) -> None:
    source = chance.choice((*corpus, data))
    start, size = chance.randint(0, len(source)), chance.choice((4, 8, 16, 24, 64, 1024))
    at = _place(chance, data)
    data[at : at + chance.choice((0, size))] = source[start : start + size]


def _cut(chance: random.Random, data: bytearray, corpus: Sequence[bytes]) -> None:
    at = _place(chance, data)
    del data[at : at + chance.choice((1, 4, 8, 64, len(data)))]


_CHANGES: tuple[Callable[[random.Random, bytearray, Sequence[bytes]], None], ...] = (
    *(_byte, _byte, _number, _number, _number),
    *(_copy, _cut),
)


@dataclass
class Cost:
    """The cost of reading some files.

    Attributes:
        files: the count of read files.
        refused: the count of files refused with an error for the user.
        seconds: the maximum processor time of one file.
        peak: the maximum memory of one file, in bytes.
        memory: the maximum memory per byte of one file, in bytes, beyond `SMALL` bytes.
    """

    files: int = 0
    refused: int = 0
    seconds: float = 0.0
    peak: int = 0
    memory: float = 0.0


SMALL = 128 * 1024
"""Bytes of memory for reading any file: messages, tables, and Python's caches."""


def measure(read: Callable[[bytes], object], files: Iterator[bytes]) -> Cost:
    """Read files, and return the maximum costs of one.

    Raises:
        Exception: any exception of the function other than an error for the user.
    """
    cost = Cost()
    tracemalloc.start()
    try:
        for data in files:
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            started = time.process_time()
            try:
                read(data)
            except OpkitError:
                cost.refused += 1
            cost.seconds = max(cost.seconds, time.process_time() - started)
            _, peak = tracemalloc.get_traced_memory()
            cost.peak = max(cost.peak, peak - before)
            cost.memory = max(cost.memory, (peak - before - SMALL) / max(len(data), 1))
            cost.files += 1
    finally:
        tracemalloc.stop()
    return cost
