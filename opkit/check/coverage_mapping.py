"""Coverage of a library that clang instruments: how often each region of its sources ran.

clang counts the runs of regions and conditions, and maps the counters to the sources: LLVM's "Code
Coverage Mapping Format". The harness hands over the counters; LLVM's own run-time is not needed.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

COUNTED = ("-fprofile-instr-generate", "-fcoverage-mapping")
"""The flags of clang for objects with counters; the link needs none."""

ATOMIC = ("-fprofile-update=atomic",)
"""For objects with threads: the difference of two counters is a count, too."""

_VERSION = 6  # of LLVM 18 to 22
_HEADER = struct.Struct("<4I")
_FUNCTION = struct.Struct("<QIQQ")
_DATA = struct.Struct("<QQq24xI12x")
_COUNTER = 8  # bytes
_GAP = 1 << 31
_ADD = 3  # the tag of an expression that adds; 2 subtracts, 1 is a counter, 0 none
_BRANCH, _DECISION, _DECISION_BRANCH, _SKIPPED = 4, 5, 6, 2


@dataclass(frozen=True)
class Region:
    """A region of a source.

    Attributes:
        file: its absolute path.
        start: the line and column of its first character, from 1.
        end: the line and column behind its last character.
        is_condition: whether it is a condition; else code.
    """

    file: str
    start: tuple[int, int]
    end: tuple[int, int]
    is_condition: bool


@cache
def counters(library: Path) -> tuple[int, int]:
    """Return the address and the size of a library's counters; (0, 0): it has none."""
    address, data = _sections(library).get("__llvm_prf_cnts", (0, b""))
    return address, len(data)


def regions(library: Path, counts: Sequence[int]) -> Iterator[tuple[Region, int, int]]:
    """Yield each region of a library with its count, and the count of a condition as false.

    A region of a header occurs once for each source that includes it. Another version of the format
    has no regions.

    Args:
        library: the library.
        counts: its counters.
    """
    sections = _sections(library)
    if not {"__llvm_covmap", "__llvm_covfun", "__llvm_prf_data"} <= sections.keys():
        return
    files = _files(sections["__llvm_covmap"][1])
    address, data = sections["__llvm_prf_data"]
    base = counters(library)[0]
    first_counters = {
        (name, hash_): (address + index * _DATA.size + offset - base) // _COUNTER
        for index, (name, hash_, offset, _) in enumerate(_DATA.iter_unpack(data))
    }
    functions = sections["__llvm_covfun"][1]
    at = 0
    while at + _FUNCTION.size <= len(functions):
        name, size, hash_, names = _FUNCTION.unpack_from(functions, at)
        at += _FUNCTION.size
        if names in files:
            # A function that no other calls has no counters.
            first = first_counters.get((name, hash_), len(counts))
            yield from _Mapping(functions[at : at + size], files[names], counts[first:]).regions()
        at += size
        at += -at % 8


def _sections(library: Path) -> dict[str, tuple[int, bytes]]:
    """Return name -> address and content of the sections with coverage; none of a damaged file."""
    # Imported only for a check.
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with library.open("rb") as file:
            return {
                section.name: (section["sh_addr"], section.data())
                for section in ELFFile(file).iter_sections()
                if section.name.startswith("__llvm_")
            }
    except ELFError:
        return {}


def _files(section: bytes) -> dict[int, list[str]]:
    """Return the absolute paths of each source's files, by the hash of their encoded list."""
    found = {}
    at = 0
    while at + _HEADER.size <= len(section):
        _, size, _, version = _HEADER.unpack_from(section, at)
        at += _HEADER.size
        encoded = section[at : at + size]
        at += size
        at += -at % 8
        if version != _VERSION:
            continue
        reader = _Reader(encoded)
        count, _, compressed = reader.number(), reader.number(), reader.number()
        if compressed:
            reader = _Reader(zlib.decompress(reader.rest()))
        folder, *names = [reader.text() for _ in range(count)]
        hash_ = int.from_bytes(hashlib.md5(encoded, usedforsecurity=False).digest()[:8], "little")
        found[hash_] = [folder, *(os.path.normpath(Path(folder, name)) for name in names)]
    return found


class _Reader:
    """Reads numbers in LEB128."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text(self) -> str:
        size = self.number()
        self.at += size
        return self.data[self.at - size : self.at].decode(errors="replace")

    def rest(self) -> bytes:
        return self.data[self.at :]


class _Mapping:
    """The mapping of a function: its regions, with counters and expressions of counters."""

    def __init__(self, data: bytes, files: Sequence[str], counts: Sequence[int]) -> None:
        self.reader = _Reader(data)
        self.counts = counts
        number = self.reader.number
        self.files = [files[number()] for _ in range(number())]
        self.expressions = [(number(), number()) for _ in range(number())]

    def regions(self) -> Iterator[tuple[Region, int, int]]:
        number = self.reader.number
        for file in self.files:
            line = 0
            for _ in range(number()):
                counter, kind = number(), 0
                as_false = 0
                if counter & 3 == 0:
                    is_expansion, kind = bool(counter & 4), counter >> 3
                    counter = 0
                    if is_expansion:
                        kind = _SKIPPED  # the code of the macro has regions of its own
                    elif kind in (_BRANCH, _DECISION_BRANCH, _DECISION):
                        counter, as_false = number(), number()
                        for _ in range(3 if kind == _DECISION_BRANCH else 0):
                            number()
                line += number()
                start = line, number()
                end_line, column = line + number(), number()
                is_condition = kind in (_BRANCH, _DECISION_BRANCH)
                if not column & _GAP and (is_condition or kind == 0):
                    region = Region(file, start, (end_line, column), is_condition)
                    yield region, self._count(counter), self._count(as_false)

    def _count(self, counter: int) -> int:
        tag, index = counter & 3, counter >> 2
        if tag == 0 or not self.counts:
            return 0
        if tag == 1:
            return self.counts[index]
        left, right = map(self._count, self.expressions[index])
        return left + right if tag == _ADD else left - right
