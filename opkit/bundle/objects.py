"""Archives of object files, and the symbols of the objects: no two operators share one.

An operator's objects define more than its entry: functions of other sources that op.yml lists, and
inline functions of C++. In one program, functions of one name would clash, or the linker would
silently take one for both. So all names but the entry get a suffix, which a linker of any vendor
accepts, instead of the visibility that only some can change (`objcopy --localize-symbol`).
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from opkit.errors import OpkitError

_MAGIC = b"!<arch>\n"
_HEADER = struct.Struct("16s12s6s6s8s10s2s")
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
        table_at: the place of that offset.
        counts_at: the place of the size and the count of section headers.
        section: a section header: name, type, flags, address, offset, size, link, ...
        symbol: a symbol, beginning with its name.
        info: the position of binding and type in a symbol.
        section_index: the position of the section in a symbol.
    """

    table: struct.Struct
    table_at: int
    counts_at: int
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
        OpkitError: it is not an archive.
    """
    if not archive.startswith(_MAGIC):
        raise OpkitError("not an archive of objects")
    found: list[tuple[str, bytes]] = []
    long_names = b""
    position = len(_MAGIC)
    while position < len(archive):
        if position + _HEADER.size > len(archive):
            raise OpkitError("the archive is truncated")
        name, *_, size_text, _ = _HEADER.unpack_from(archive, position)
        position += _HEADER.size
        size = int(size_text)
        content = archive[position : position + size]
        position += size + size % 2
        text = name.decode().rstrip()
        if text == _LONG_NAMES:
            long_names = content
        elif text.startswith("/") and text not in _INDICES:
            start = int(text[1:])
            text = long_names[start : long_names.index(b"/\n", start)].decode()
            found.append((text, content))
        elif text not in _INDICES:
            found.append((text.removesuffix("/"), content))
    return found


def isolated(objects: Mapping[str, bytes], entry: str, suffix: str) -> dict[str, bytes]:
    """Return objects in which only the entry of an operator keeps its name.

    Args:
        objects: name of an object -> its content.
        entry: the symbol for other operators and applications.
        suffix: appended to all other symbols that the objects define, where they use them, too.

    Raises:
        OpkitError: an object is not an ELF file of a board.
    """
    parsed = {name: _Object(name, content) for name, content in objects.items()}
    defined = {symbol for each in parsed.values() for symbol in each.defined()}
    return {name: each.renamed(defined - {entry.encode()}, suffix) for name, each in parsed.items()}


def defined_symbols(name: str, content: bytes) -> set[str]:
    """Return the symbols that an object defines for others.

    Raises:
        OpkitError: it is not an ELF file of a board.
    """
    return {symbol.decode() for symbol in _Object(name, content).defined()}


class _Object:
    """An object file, with its table of symbols."""

    def __init__(self, name: str, content: bytes) -> None:
        elf_class = content[4] if content.startswith(_ELF) and len(content) > 5 else 0
        if elf_class not in _FORMATS or content[5] != _LITTLE_ENDIAN:
            raise OpkitError(
                f"{name}: not an object in ELF (expected one; compile without -flto, and with a "
                "compiler for the board)"
            )
        self._content = content
        self._format = _FORMATS[elf_class]

    def defined(self) -> Iterator[bytes]:
        """Yield the symbols that it defines for others."""
        for _, name, section in self._symbols():
            if section != _SHN_UNDEF:
                yield name

    def renamed(self, names: Collection[bytes], suffix: str) -> bytes:
        """Return the object with a suffix on symbols.

        The new names are a new table of strings at the end of the file.
        """
        changes = [(at, name) for at, name, _ in self._symbols() if name in names]
        if not changes:
            return self._content
        data = bytearray(self._content)
        _, strings_at, strings = self._tables()
        texts = bytearray(self._content[strings[_OFFSET] : strings[_OFFSET] + strings[_SIZE]])
        for at, name in changes:
            _WORD.pack_into(data, at, len(texts))
            texts += name + suffix.encode() + b"\0"
        values = [*strings]
        values[_OFFSET], values[_SIZE] = len(data), len(texts)
        self._format.section.pack_into(data, strings_at, *values)
        return bytes(data + texts)

    def _symbols(self) -> Iterator[tuple[int, bytes, int]]:
        """Yield the place, the name and the section of each symbol that is not local."""
        symbols, _, strings = self._tables()
        layout, content = self._format, self._content
        for at in range(symbols[_OFFSET], symbols[_OFFSET] + symbols[_SIZE], layout.symbol.size):
            symbol = layout.symbol.unpack_from(content, at)
            if symbol[layout.info] >> 4 != _STB_LOCAL:
                start = strings[_OFFSET] + symbol[0]
                yield at, content[start : content.index(b"\0", start)], symbol[layout.section_index]

    def _tables(self) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        """Return the header of the symbols, and place and header of their names."""
        layout, content = self._format, self._content
        (start,) = layout.table.unpack_from(content, layout.table_at)
        size, count = _COUNTS.unpack_from(content, layout.counts_at)
        for index in range(count):
            header = layout.section.unpack_from(content, start + index * size)
            if header[_TYPE] == _SHT_SYMTAB:
                at = start + header[_LINK] * size
                return header, at, layout.section.unpack_from(content, at)
        raise OpkitError("an object without symbols")
