"""The package (`.rknnop`): its bytes from a value, the value from its bytes, and a listing.

All integers are little-endian:

    offset  bytes  content
    0       4      "RKNN"
    4       4      zero
    8       8      container version, 1 or 2
    16             sections to the end of the file: 8 bytes of length, then that many bytes

There is neither padding nor a checksum. The order of the sections is `_sections()`. All of it was
read from packages that the vendor ships.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import yaml

from opkit.errors import OpkitError

MAGIC = b"RKNN"
PROGRAM_BINARY_MAGICS: tuple[bytes, ...] = (b"SHDR", b"FULLPRGM")
"""How a program binary begins: SHDR if it is not linked yet, FULLPRGM if it is."""

LIBRARIES: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {1: ("x64", "aarch64"), 2: ("x64", "aarch64", "armhf")}
)
"""Container version -> the ABIs of its device libraries, in the order of the file."""

VERSION = 2
"""The container version that is packed."""

ABIS: tuple[str, ...] = LIBRARIES[VERSION]
"""The ABIs of the device libraries that every package carries."""

_HEADER = struct.Struct("<4sIQ")
_LENGTH = struct.Struct("<Q")
_PROGRAM, _DESCRIPTION, _PYTHON = "program binary", "op.yml", "Python file"


class PackageError(OpkitError):
    """Bytes that are not a package, or a value that a package cannot hold."""


@dataclass(frozen=True)
class Package:
    """What a package holds.

    Attributes:
        version: the container's version: 1 (toolkit 1.2.0 to 1.3.0) or 2 (1.3.2 and later).
        program_binary: that of the VX kernel; empty when the operator runs on the CPU only.
        libraries: ABI name -> device library. Version 1 has no armhf.
        description: the text of op.yml.
        python: the text of the class that RKNN-Toolkit calls.
    """

    version: int
    program_binary: bytes
    libraries: Mapping[str, bytes]
    description: str
    python: str


def pack(package: Package) -> bytes:
    """Return the package as the bytes of a `.rknnop` file.

    Raises:
        PackageError: the version is unknown, or the libraries are not those of the version.
    """
    if package.version not in LIBRARIES:
        raise PackageError(
            f"package version {package.version} is unknown (expected {_listed(LIBRARIES)})"
        )
    abis = LIBRARIES[package.version]
    if set(package.libraries) != set(abis):
        raise PackageError(
            f"a version {package.version} package carries the libraries {_listed(abis)}; "
            f"given: {_listed(package.libraries) or 'none'}"
        )
    contents = _contents(package)
    parts = [_HEADER.pack(MAGIC, 0, package.version)]
    for name in _sections(package.version):
        parts += [_LENGTH.pack(len(contents[name])), contents[name]]
    return b"".join(parts)


def unpack(data: bytes, file: str) -> Package:
    """Return what the bytes of a `.rknnop` file hold.

    Args:
        data: the whole file.
        file: its name, for messages.

    Raises:
        PackageError: the bytes are not exactly one package; the message names the file, the
            offset, what is there and what should be.
    """
    version = _read_version(data, file)
    sections = _split(data, file, version)
    return Package(
        version=version,
        program_binary=sections[_PROGRAM].data,
        libraries={abi: sections[_library(abi)].data for abi in LIBRARIES[version]},
        description=_decode(sections, _DESCRIPTION, file),
        python=_decode(sections, _PYTHON, file),
    )


class _Section(NamedTuple):
    start: int  # in the file
    data: bytes


def _wrong(file: str, offset: int, found: str, expected: str) -> PackageError:
    return PackageError(f"{file}: at offset {offset}: found {found}, expected {expected}")


def _read_version(data: bytes, file: str) -> int:
    """Return the version that a package's header names."""
    if data[:4] != MAGIC:
        found = repr(data[:4]) if data else "an empty file"
        raise _wrong(file, 0, found, f"{MAGIC!r}, a package's start")
    if len(data) < _HEADER.size:
        raise _wrong(file, len(data), "the end of the file", f"a header of {_HEADER.size} bytes")
    _, zero, version = _HEADER.unpack_from(data)
    if zero:
        raise _wrong(file, 4, f"0x{zero:08x}", "zero")
    if version not in LIBRARIES:
        raise _wrong(file, 8, f"container version {version}", f"one of: {_listed(LIBRARIES)}")
    return int(version)


def _split(data: bytes, file: str, version: int) -> dict[str, _Section]:
    """Return the sections by name; together they are all that follows the header."""
    offset = _HEADER.size
    sections = {}
    for name in _sections(version):
        left = len(data) - offset
        if left < _LENGTH.size:
            found = f"{left} bytes up to the end"
            raise _wrong(file, offset, found, f"the 8-byte length of section '{name}'")
        (length,) = _LENGTH.unpack_from(data, offset)
        left -= _LENGTH.size
        if length > left:
            raise _wrong(
                file,
                offset,
                f"a length of {length} bytes for section '{name}'",
                f"at most the {left} bytes that are left in the file",
            )
        start = offset + _LENGTH.size
        offset = start + length
        sections[name] = _Section(start, data[start:offset])
    if offset != len(data):
        raise _wrong(file, offset, f"{len(data) - offset} more bytes", "the end of the file")
    return sections


def _decode(sections: Mapping[str, _Section], name: str, file: str) -> str:
    """Return a section that is text."""
    start, data = sections[name]
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x}"
        offset = start + error.start
        raise _wrong(file, offset, found, f"UTF-8 text in section '{name}'") from None


def program_binary_kind(program_binary: bytes) -> str:
    """Return `SHDR`, `FULLPRGM`, `empty`, or `unknown` for a program binary."""
    if not program_binary:
        return "empty"
    return next(
        (magic.decode() for magic in PROGRAM_BINARY_MAGICS if program_binary.startswith(magic)),
        "unknown",
    )


def describe(package: Package) -> str:
    """Return the package as a listing for people: operator, sections, op.yml."""
    contents = _contents(package)
    fields = _fields(package.description)
    kinds = {
        _PROGRAM: program_binary_kind(package.program_binary),
        **{_library(abi): _library_kind(library) for abi, library in package.libraries.items()},
        _DESCRIPTION: "text",
        _PYTHON: "text",
    }
    lines = [
        f"operator        {fields.get('name', 'not given')}",
        f"target_platform {fields.get('target_platform', 'not given')}",
        f"kernel_index    {fields.get('kernel_index', 'not given')}",
        f"package version {package.version}",
        "",
        f"{'section':16}{'bytes':>10}  kind",
    ]
    lines += [f"{name:16}{len(contents[name]):>10}  {kinds[name]}" for name in contents]
    lines += ["", "op.yml:", package.description.rstrip("\n"), ""]
    return _printable("\n".join(lines))


def _sections(version: int) -> tuple[str, ...]:
    return (_PROGRAM, *map(_library, LIBRARIES[version]), _DESCRIPTION, _PYTHON)


def _library(abi: str) -> str:
    return f"{abi} library"


def _contents(package: Package) -> dict[str, bytes]:
    """Return the sections by name, in the order of the file."""
    contents = {
        _PROGRAM: package.program_binary,
        **{_library(abi): library for abi, library in package.libraries.items()},
        _DESCRIPTION: package.description.encode(),
        _PYTHON: package.python.encode(),
    }
    return {name: contents[name] for name in _sections(package.version)}


def _library_kind(library: bytes) -> str:
    # Only the listing looks into libraries; packing must not wait for pyelftools to be imported.
    from opkit.toolchains import elf

    try:
        found = elf.read(library)
    except elf.ElfError as error:
        return str(error)
    glibc = elf.newest_glibc(found)
    return (
        f"{found.architecture}, glibc {glibc or 'not needed'}, "
        f"exports {_listed(found.exports) or 'nothing'}"
    )


def _fields(description: str) -> dict[str, str]:
    """Return the top-level scalars of an op.yml, or nothing if it is not readable.

    A package may come from any toolkit, so the keys are not checked here.
    """
    try:
        loaded = yaml.load(description, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError):
        return {}  # the last two: a numeric escape that is no character
    if not isinstance(loaded, dict):
        return {}
    return {str(key): value for key, value in loaded.items() if isinstance(value, str)}


def _printable(text: str) -> str:
    """Return the text with control characters shown, not sent to the terminal."""
    return "".join(
        character if character.isprintable() or character in "\n\t" else ascii(character)[1:-1]
        for character in text
    )


def _listed(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))
