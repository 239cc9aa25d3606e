"""Archives of object files, and the symbols of the objects: no two operators share one.

An operator's objects define more than its entry: functions of other sources that op.yml lists, and
inline functions of C++. In one program, two functions of one name clash, or the linker takes one of
them for both. So the names of all symbols but the entry get a suffix here. `objcopy` of binutils
can make symbols local instead, but zig has no such tool.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from opkit.common.errors import OpkitError

_MAGIC = b"!<arch>\n"
_HEADER = struct.Struct("16s12s6s6s8s10s2s")
_END = b"`\n"
_INDICES = ("/", "/SYM64/")
_LONG_NAMES = "//"

_ELF = b"\x7fELF"
_LITTLE_ENDIAN = 1
_SHT_SYMTAB = 2
_SHN_UNDEF = 0
_STB_LOCAL = 0


@dataclass(frozen=True)
class _Format:
    """The layout of an ELF class, little-endian.

    Attributes:
        table: the offset of the section headers, in the file's header.
        table_place: the place of that offset.
        counts_place: the place of the size and the count of section headers.
        section: a section header: name, type, flags, address, offset, size, link, ...
        symbol: a symbol, beginning with its name.
        info: the position of binding and type in a symbol.
        section_index: the position of the section in a symbol.
    """

    table: struct.Struct
    table_place: int
    counts_place: int
    section: struct.Struct
    symbol: struct.Struct
    info: int
    section_index: int


_WORD, _QUAD = struct.Struct("<I"), struct.Struct("<Q")
_FORMATS = {
    1: _Format(_WORD, 32, 46, struct.Struct("<10I"), struct.Struct("<IIIBBH"), 3, 5),
    2: _Format(_QUAD, 40, 58, struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ"), 1, 3),
}
_COUNTS = struct.Struct("<HH")
_TYPE, _OFFSET, _SIZE, _LINK = 1, 4, 5, 6


def members(archive: bytes) -> list[tuple[str, bytes]]:
    """Return name and content of an archive's members, in order; names may repeat.

    Raises:
        OpkitError: it is not an archive, or damaged.
    """
    found = []
    long_names = b""
    for name, content in _entries(archive):
        if name == _LONG_NAMES:
            long_names = content
        elif name.startswith("/") and name not in _INDICES:
            start = int(name[1:]) if name[1:].isdigit() else len(long_names)
            long_name = long_names[start:].partition(b"/\n")[0]  # each ends with `/` and a newline
            found.append((long_name.decode(errors="replace"), content))
        elif name not in _INDICES:
            found.append((name.removesuffix("/"), content))
    return found


def _entries(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of an archive's members and tables."""
    if not archive.startswith(_MAGIC):
        raise OpkitError("not an archive of objects")
    position = len(_MAGIC)
    while position < len(archive):
        header = archive[position : position + _HEADER.size]
        if len(header) < _HEADER.size or not header.endswith(_END):
            raise _damaged(position)
        name, *_, digits, _ = _HEADER.unpack(header)
        if not digits.strip().isdigit():
            raise _damaged(position)
        start = position + _HEADER.size
        size = int(digits)
        if start + size > len(archive):
            raise _damaged(position)
        yield name.decode(errors="replace").rstrip(), archive[start : start + size]
        position = start + size + size % 2


def _damaged(position: int) -> OpkitError:
    return OpkitError(f"the archive is damaged at offset {position}; build it again")


def isolated(
    objects: Mapping[str, bytes], entries: Collection[str], suffix: str
) -> dict[str, bytes]:
    """Rename all symbols of objects but the entries of an operator.

    Args:
        objects: name of an object -> its content.
        entries: the symbols for other operators and applications.
        suffix: appended to all other symbols that the objects define, where they use them, too.

    Raises:
        OpkitError: an object is not an ELF file of a board, or damaged.
    """
    read = {name: _read(name, content) for name, content in objects.items()}
    defined = {symbol.name for each in read.values() for symbol in each.symbols if symbol.is_here}
    own = defined - {entry.encode() for entry in entries}
    return {name: _renamed(each, own, suffix.encode()) for name, each in read.items()}


def defined_symbols(name: str, content: bytes) -> set[str]:
    """Return the symbols that an object defines for others.

    Raises:
        OpkitError: it is not an ELF file of a board, or damaged.
    """
    symbols = _read(name, content).symbols
    return {symbol.name.decode(errors="replace") for symbol in symbols if symbol.is_here}


@dataclass(frozen=True)
class _Symbol:
    """A symbol that is not local.

    Attributes:
        place: the offset of its entry in the file, which begins with the offset of the name.
        name: its name.
        is_here: whether the object defines it.
    """

    place: int
    name: bytes
    is_here: bool


@dataclass(frozen=True)
class _Object:
    """An object file.

    Attributes:
        content: its bytes.
        symbols: its symbols that are not local.
        strings: the section header of their names.
        strings_place: the offset of that header.
        section: the format of a section header.
    """

    content: bytes
    symbols: Sequence[_Symbol]
    strings: Sequence[int]
    strings_place: int
    section: struct.Struct


def _read(name: str, content: bytes) -> _Object:
    elf_class = content[4] if content.startswith(_ELF) and len(content) > 5 else 0
    if elf_class not in _FORMATS or content[5] != _LITTLE_ENDIAN:
        raise OpkitError(
            f"{name}: not an object in ELF (expected one; compile without -flto, and with a "
            "compiler for the board)"
        )
    try:
        return _parsed(content, _FORMATS[elf_class])
    except (struct.error, ValueError):
        raise OpkitError(f"{name}: the object is damaged; build it again") from None


def _parsed(content: bytes, layout: _Format) -> _Object:
    """Parse an object; one without symbols has empty tables.

    Raises:
        struct.error, ValueError: it is damaged.
    """
    (start,) = layout.table.unpack_from(content, layout.table_place)
    size, count = _COUNTS.unpack_from(content, layout.counts_place)
    headers = [layout.section.unpack_from(content, start + index * size) for index in range(count)]
    tables = [header for header in headers if header[_TYPE] == _SHT_SYMTAB]
    if not tables:
        return _Object(content, (), (), 0, layout.section)
    (table,) = tables
    if table[_LINK] >= count:
        raise ValueError
    strings = headers[table[_LINK]]
    symbols = []
    for place in range(table[_OFFSET], table[_OFFSET] + table[_SIZE], layout.symbol.size):
        symbol = layout.symbol.unpack_from(content, place)
        if symbol[layout.info] >> 4 != _STB_LOCAL:
            begin = strings[_OFFSET] + symbol[0]
            text = content[begin : content.index(b"\0", begin)]
            symbols.append(_Symbol(place, text, symbol[layout.section_index] != _SHN_UNDEF))
    return _Object(content, symbols, strings, start + table[_LINK] * size, layout.section)


def _renamed(object_: _Object, names: Collection[bytes], suffix: bytes) -> bytes:
    """Return an object with a suffix on symbols; the end of the file is a new table of names."""
    changed = [symbol for symbol in object_.symbols if symbol.name in names]
    if not changed:
        return object_.content
    data = bytearray(object_.content)
    begin, size = object_.strings[_OFFSET], object_.strings[_SIZE]
    strings = bytearray(object_.content[begin : begin + size])
    for symbol in changed:
        _WORD.pack_into(data, symbol.place, len(strings))
        strings += symbol.name + suffix + b"\0"
    header = [*object_.strings]
    header[_OFFSET], header[_SIZE] = len(data), len(strings)
    object_.section.pack_into(data, object_.strings_place, *header)
    return bytes(data + strings)
