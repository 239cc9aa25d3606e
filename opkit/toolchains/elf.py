"""Read the dynamic-linking facts of a compiled library.

Reads the few ELF structures that hold them. A library may come from anyone: its size limits the
time and memory of reading it, for any counts, offsets and names in it. pyelftools, which reads
debug information here, trusts them: a file of 10 kB can keep it busy forever.
"""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from opkit.errors import OpkitError

_GLIBC = re.compile(r"GLIBC_(\d{1,9}(?:\.\d{1,9})*)")

_MACHINES = {3: "EM_386", 40: "EM_ARM", 62: "EM_X86_64", 183: "EM_AARCH64", 243: "EM_RISCV"}
_EM_ARM = 40
_EF_ARM_ABI_FLOAT_HARD = 0x400

_ET_DYN = 3
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP, _PT_GNU_STACK = 1, 2, 3, 0x6474E551
_PF_X = 1
_SHT_DYNSYM, _SHT_GNU_VERNEED, _SHT_GNU_VERSYM = 11, 0x6FFFFFFE, 0x6FFFFFFF
_DT_NULL, _DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_RPATH = 0, 1, 5, 10, 15
_DT_TEXTREL, _DT_RUNPATH, _DT_FLAGS = 22, 29, 30
_READ_TAGS = frozenset(
    {_DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_RPATH, _DT_TEXTREL, _DT_RUNPATH, _DT_FLAGS}
)
_DF_TEXTREL = 4
_STB_GLOBAL, _STB_WEAK, _STB_GNU_UNIQUE = 1, 2, 10
_STRONG = frozenset({_STB_GLOBAL, _STB_GNU_UNIQUE})
_STV_DEFAULT, _STV_PROTECTED = 0, 3
_SHN_UNDEF = 0
_VERSION_INDEX = 0x7FFF  # bit 15: hidden


class ElfError(OpkitError):
    """A library that cannot be read, or that a target system would refuse."""


@dataclass(frozen=True)
class Library:
    """The dynamic-linking facts of a library.

    Attributes:
        architecture: machine, word size, byte order and, on ARM, the calling convention.
        shared: whether it is a shared object, not a program or an object file.
        exports: the defined symbols that other libraries can bind to.
        unversioned: the undefined, not weak symbols without a version, so not of glibc.
        needed: the libraries that it loads.
        versions: required symbol version -> its symbols.
        run_paths: the folders of RPATH and RUNPATH.
        executable_stack: whether it requires an executable stack.
        text_relocations: whether the loader writes into its code.
    """

    architecture: str
    shared: bool
    exports: tuple[str, ...]
    unversioned: tuple[str, ...]
    needed: tuple[str, ...]
    versions: Mapping[str, tuple[str, ...]]
    run_paths: tuple[str, ...]
    executable_stack: bool
    text_relocations: bool


def read(data: bytes) -> Library:
    """Return the dynamic-linking facts of a library: needed libraries, symbols, versions.

    Args:
        data: the whole file.

    Raises:
        ElfError: it is not an ELF file, or is damaged.
    """
    if not data.startswith(b"\x7fELF"):
        raise ElfError(f"not an ELF file: it begins with {data[:4]!r}")
    try:
        return _library(_File(data))
    except ElfError as error:
        raise ElfError(f"a damaged ELF file of {len(data)} bytes: {error}") from None


def newest_glibc(library: Library) -> str | None:
    """Return the newest glibc version that a library requires, such as `2.17`."""
    return max(filter(None, map(glibc_version, library.versions)), key=version_key, default=None)


def glibc_version(version: str) -> str | None:
    """Return `2.17` for the symbol version `GLIBC_2.17`, and None for another library's."""
    match = _GLIBC.fullmatch(version)
    return match and match.group(1)


def version_key(version: str) -> tuple[int, ...]:
    """Return a dotted version as integers, in the order of versions."""
    return tuple(map(int, version.split(".")))


class _Header(NamedTuple):
    type: int
    machine: int
    segments: int
    sections: int
    flags: int
    segment_size: int
    segment_count: int
    section_size: int
    section_count: int


class _Segment(NamedTuple):
    type: int
    flags: int
    offset: int
    address: int
    size: int


class _Section(NamedTuple):
    type: int
    offset: int
    size: int
    link: int
    info: int


class _Strings(NamedTuple):
    start: int
    end: int


class _Dynamic(NamedTuple):
    needed: list[str]
    run_paths: list[str]
    text_relocations: bool


class _Layout(NamedTuple):
    """The structures of a word size, as formats of struct; x skips a byte."""

    bits: int
    header: str
    segment: str
    segment_fields: tuple[str, ...]
    section: str
    symbol: str  # name, type and binding, visibility, section
    dynamic: str  # tag, value


_LAYOUTS: Mapping[int, _Layout] = MappingProxyType(
    {
        1: _Layout(
            bits=32,
            header="16xHH8xIII2xHHHH2x",
            segment="III4xI4xI4x",
            segment_fields=("type", "offset", "address", "size", "flags"),
            section="4xI8xIIII8x",
            symbol="I8xBBH",
            dynamic="II",
        ),
        2: _Layout(
            bits=64,
            header="16xHH12xQQI2xHHHH2x",
            segment="IIQQ8xQ16x",
            segment_fields=("type", "flags", "offset", "address", "size"),
            section="4xI16xQQII16x",
            symbol="IBBH16x",
            dynamic="QQ",
        ),
    }
)
_VERNEED = "2xHIII"  # number of versions, file, first version, next file
_VERNAUX = "6xHII"  # version index, name, next version
_VERNEED_SIZE = 16
_MAX_ENTRIES = 1000  # of the versions, and of the dynamic segment, each
_NAME_ENTRY_SIZE = 16  # of the shortest structure of a symbol
_BYTE_ORDERS = {1: ("<", "little-endian"), 2: (">", "big-endian")}


class _File:
    """An ELF file with bounds-checked reads.

    Raises:
        ElfError: an offset is outside of the file, or its names are longer than the file.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._view = memoryview(data)
        # Names may overlap: each may be as long as the file. In a compiler's output, names and the
        # entries that refer to them take less than the file.
        self._name_bytes = 4096 + len(data)
        if len(data) < 16 or data[4] not in _LAYOUTS or data[5] not in _BYTE_ORDERS:
            raise ElfError("its identification names no word size and byte order")
        self.layout = _LAYOUTS[data[4]]
        self._order, self.byte_order = _BYTE_ORDERS[data[5]]
        self.header = header = _Header(*self.unpack(self.layout.header, 0, "header"))
        for what, layout, size, count in (
            ("segment", self.layout.segment, header.segment_size, header.segment_count),
            ("section", self.layout.section, header.section_size, header.section_count),
        ):
            expected = struct.calcsize(self._order + layout)
            if count and size != expected:
                raise ElfError(f"its {what} headers have {size} bytes each, not {expected}")

    def unpack(self, layout: str, offset: int, what: str) -> tuple[int, ...]:
        """Return the fields of one structure."""
        layout = self._order + layout
        return struct.unpack(layout, self._bytes(offset, struct.calcsize(layout), what))

    def records(self, layout: str, offset: int, size: int, what: str) -> Iterator[tuple[int, ...]]:
        """Return the fields of consecutive structures."""
        layout = self._order + layout
        size -= size % struct.calcsize(layout)
        return struct.iter_unpack(layout, self._bytes(offset, size, what))

    def _bytes(self, offset: int, size: int, what: str) -> memoryview:
        if offset + size > len(self._data):
            raise ElfError(f"its {what} ends at offset {offset + size}")
        return self._view[offset : offset + size]

    def segments(self) -> Iterator[_Segment]:
        """Yield the segments."""
        size = self.header.segment_count * self.header.segment_size
        table = self.records(self.layout.segment, self.header.segments, size, "segment table")
        for values in table:
            yield _Segment(**dict(zip(self.layout.segment_fields, values, strict=True)))

    def segment(self, type_: int) -> _Segment | None:
        """Return the last segment of a type, as Linux does."""
        found = None
        for each in self.segments():
            if each.type == type_:
                found = each
        return found

    def sections(self) -> Iterator[_Section]:
        """Yield the sections."""
        size = self.header.section_count * self.header.section_size
        table = self.records(self.layout.section, self.header.sections, size, "section table")
        return itertools.starmap(_Section, table)

    def section(self, type_: int) -> _Section | None:
        """Return the only section of a type."""
        return next((each for each in self.sections() if each.type == type_), None)

    def strings_of(self, section: _Section) -> _Strings:
        """Return the string table that a section refers to."""
        table = next(itertools.islice(self.sections(), section.link, None), None)
        if table is None:
            raise ElfError(f"it has no section {section.link}, a table of strings")
        return self.strings(table.offset, table.size)

    def strings(self, offset: int, size: int) -> _Strings:
        """Return a string table."""
        self._bytes(offset, size, "table of strings")
        return _Strings(offset, offset + size)

    def offset(self, address: int) -> int:
        """Return the file offset of an address."""
        for each in self.segments():
            if each.type == _PT_LOAD and each.address <= address < each.address + each.size:
                return address - each.address + each.offset
        raise ElfError(f"no segment has address 0x{address:x}")

    def name(self, strings: _Strings, index: int) -> str:
        """Return a string of a table; unprintable characters are escaped."""
        start = strings.start + index
        end = self._data.find(b"\0", start, strings.end) if start < strings.end else -1
        if end < 0:
            raise ElfError(f"its name at offset {start} does not end")
        self._name_bytes -= end - start + _NAME_ENTRY_SIZE
        if self._name_bytes < 0:
            raise ElfError("its names are longer than the file")
        name = self._data[start:end].decode("ascii", "backslashreplace")
        return name if name.isprintable() else ascii(name)[1:-1]


def _library(file: _File) -> Library:
    tags = _dynamic(file)
    stack = file.segment(_PT_GNU_STACK)
    exports, unversioned, versions = _bindings(file)

    return Library(
        architecture=_architecture(file),
        # A position-independent program is ET_DYN too, but names its interpreter.
        shared=file.header.type == _ET_DYN and file.segment(_PT_INTERP) is None,
        exports=tuple(sorted(exports)),
        unversioned=tuple(sorted(unversioned)),
        needed=tuple(tags.needed),
        versions=_by_name(versions.values()),
        run_paths=tuple(tags.run_paths),
        # Linux makes the stack executable for a library without this segment.
        executable_stack=stack is None or bool(stack.flags & _PF_X),
        text_relocations=tags.text_relocations,
    )


def _architecture(file: _File) -> str:
    machine, flags = file.header.machine, file.header.flags
    words = [
        _MACHINES.get(machine, f"machine {machine}"),
        f"{file.layout.bits}-bit",
        file.byte_order,
    ]
    if machine == _EM_ARM:
        words += [
            f"EABI{flags >> 24}",
            "hard-float" if flags & _EF_ARM_ABI_FLOAT_HARD else "soft-float",
        ]
    return " ".join(words)


def _dynamic(file: _File) -> _Dynamic:
    entries = list(itertools.islice(_dynamic_entries(file), _MAX_ENTRIES + 1))
    if len(entries) > _MAX_ENTRIES:
        raise ElfError(f"its dynamic segment has more than {_MAX_ENTRIES:,} entries")
    values = dict(entries)
    strings = _Strings(0, 0)
    if _DT_STRTAB in values and _DT_STRSZ in values:
        strings = file.strings(file.offset(values[_DT_STRTAB]), values[_DT_STRSZ])

    def named(wanted: int) -> list[str]:
        return [file.name(strings, value) for tag, value in entries if tag == wanted]

    return _Dynamic(
        needed=named(_DT_NEEDED),
        run_paths=named(_DT_RPATH) + named(_DT_RUNPATH),
        text_relocations=_DT_TEXTREL in values or bool(values.get(_DT_FLAGS, 0) & _DF_TEXTREL),
    )


def _dynamic_entries(file: _File) -> Iterator[tuple[int, int]]:
    """Yield tag and value of the entries of the dynamic segment."""
    segment = file.segment(_PT_DYNAMIC)
    if segment is None:
        return
    layout = file.layout.dynamic
    for tag, value in file.records(layout, segment.offset, segment.size, "dynamic segment"):
        if tag == _DT_NULL:
            return
        if tag in _READ_TAGS:
            yield tag, value


def _bindings(file: _File) -> tuple[list[str], list[str], dict[int, tuple[str, list[str]]]]:
    """Return the exports, the undefined symbols without a version, and the needed versions."""
    versions = _needed_versions(file)
    exports, unversioned = [], []
    for name, info, other, section, version in _symbols(file):
        bind, visibility = info >> 4, other & 3
        if version in versions:
            versions[version][1].append(name)
        elif section == _SHN_UNDEF:
            if bind in _STRONG:
                unversioned.append(name)
        elif bind in _STRONG | {_STB_WEAK} and visibility in (_STV_DEFAULT, _STV_PROTECTED):
            exports.append(name)
    return exports, unversioned, versions


def _needed_versions(file: _File) -> dict[int, tuple[str, list[str]]]:
    """Return version index -> (version name, empty list for its symbols)."""
    section = file.section(_SHT_GNU_VERNEED)
    if section is None:
        return {}
    strings = file.strings_of(section)
    # Entries do not overlap in a compiler's output; in other files they may form endless chains.
    entries = min(section.size // _VERNEED_SIZE, _MAX_ENTRIES)
    versions: dict[int, tuple[str, list[str]]] = {}
    offset = section.offset
    for _ in range(section.info):
        count, _, first, following = file.unpack(_VERNEED, offset, "list of versions")
        entries -= 1 + count
        if entries < 0:
            raise ElfError("its list of versions is longer than its section")
        inner = offset + first
        for _ in range(count):
            index, name, step = file.unpack(_VERNAUX, inner, "list of versions")
            versions[index] = (file.name(strings, name), [])
            inner += step
        offset += following
    return versions


def _symbols(file: _File) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield name, type and binding, visibility, section and version of each dynamic symbol."""
    section = file.section(_SHT_DYNSYM)
    if section is None:
        return
    strings = file.strings_of(section)
    table = file.section(_SHT_GNU_VERSYM)
    symbols = file.records(file.layout.symbol, section.offset, section.size, "table of symbols")
    versions: Iterator[tuple[int, ...]] = itertools.repeat((0,))
    if table is not None:
        versions = file.records("H", table.offset, table.size, "table of symbol versions")
    for name, info, other, where in symbols:
        version = next(versions, None)
        if version is None:
            raise ElfError("its table of symbol versions is shorter than that of symbols")
        yield file.name(strings, name), info, other, where, version[0] & _VERSION_INDEX


def _by_name(versions: Iterable[tuple[str, list[str]]]) -> dict[str, tuple[str, ...]]:
    """Merge the entries of equal versions; libc and libm each have their own."""
    merged: dict[str, list[str]] = {}
    for name, symbols in versions:
        merged.setdefault(name, []).extend(symbols)
    return {name: tuple(sorted(symbols)) for name, symbols in sorted(merged.items())}
