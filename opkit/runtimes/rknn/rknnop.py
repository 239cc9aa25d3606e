"""The package format (`.rknnop`): pack and unpack.

All integers are little-endian:

    offset  bytes  content
    0       4      "RKNN"
    4       4      zero
    8       8      container version, 1 or 2
    16             sections to the end of the file: 8 bytes of length, then that many bytes

There is neither padding nor a checksum. `section_names()` has the order of the sections. The
source of all of it is the vendor's packages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from opkit.common import file_io
from opkit.common.errors import OpkitError

MAGIC = b"RKNN"
PROGRAM_BINARY_MAGICS: tuple[bytes, ...] = (b"SHDR", b"FULLPRGM")
"""The magic of a program binary: SHDR before linking, FULLPRGM after."""

LIBRARIES: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {1: ("x64", "aarch64"), 2: ("x64", "aarch64", "armhf")}
)
"""Container version -> the ABIs of its device libraries, in the order of the file."""

VERSION = 2
"""The container version of new packages."""

ABIS: tuple[str, ...] = LIBRARIES[VERSION]
"""The ABIs of the device libraries in every new package."""

_HEADER = struct.Struct("<4sIQ")
_LENGTH = struct.Struct("<Q")
_PROGRAM, _DESCRIPTION, _PYTHON = "program binary", "op.yml", "Python file"
_OTHER_FILES: Mapping[bytes, str] = MappingProxyType(
    {
        b"": "an empty file",
        b"\x7fELF": "an ELF file",
        b"PK\3\4": "a ZIP archive",
        b"\x1f\x8b": "a gzip archive",
        **dict.fromkeys(PROGRAM_BINARY_MAGICS, "a program binary"),
    }
)
"""The first bytes of a file that is not a package -> its kind."""
_OTHER_SUFFIXES: Mapping[str, str] = MappingProxyType(
    # Inferred: a model's header is like a package's, so only the suffix tells them apart.
    {
        ".rknn": "an RKNN model",
        ".yml": "a YAML file",
        ".yaml": "a YAML file",
        ".vx": "a VX kernel",
        ".py": "a Python file",
    }
)
"""Suffix -> the kind of a file, if its first bytes are ambiguous."""


class PackageError(OpkitError):
    """The bytes are not a package, or the value cannot be packed."""


@dataclass(frozen=True)
class Package:
    """The contents of a package.

    Attributes:
        version: the container's version: 1 (toolkit 1.2.0 to 1.3.0) or 2 (1.3.2 and later).
        program_binary: the VX kernel's; empty if the operator runs on the CPU only.
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
        PackageError: the version is unknown, or has other libraries.
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
    parts = [_HEADER.pack(MAGIC, 0, package.version)]
    for content in sections(package).values():
        parts += [_LENGTH.pack(len(content)), content]
    return b"".join(parts)


def read(path: Path) -> Package:
    """Read a `.rknnop` file.

    Raises:
        OpkitError: the file cannot be read, or is not exactly one package.
    """
    return unpack(file_io.read_bounded(path, "a package (.rknnop)"), str(path))


def unpack(data: bytes, file: str) -> Package:
    """Parse the bytes of a `.rknnop` file.

    Args:
        data: the whole file.
        file: its name, for messages.

    Raises:
        PackageError: the bytes are not exactly one package; the message names the file, the
            offset, the content found and the content expected.
    """
    try:
        version = _read_version(data, file)
        found = _split(data, file, version)
        return Package(
            version=version,
            program_binary=found[_PROGRAM].data,
            libraries={abi: found[library_section(abi)].data for abi in LIBRARIES[version]},
            description=_decode(found, _DESCRIPTION, file),
            python=_decode(found, _PYTHON, file),
        )
    except PackageError:
        kinds = (
            kind
            for beginning, kind in _OTHER_FILES.items()
            if data.startswith(beginning) and (beginning or not data)
        )
        if other := next(kinds, _OTHER_SUFFIXES.get(Path(file).suffix.lower())):
            raise PackageError(f"{file}: is {other}, not a package (.rknnop)") from None
        raise


class _Section(NamedTuple):
    start: int  # in the file
    data: bytes


def _wrong(file: str, offset: int, found: str, expected: str) -> PackageError:
    return PackageError(f"{file}: at offset {offset}: found {found}, expected {expected}")


def _read_version(data: bytes, file: str) -> int:
    """Return the version that a package's header names."""
    if data[:4] != MAGIC:
        raise _wrong(file, 0, repr(data[:4]), f"{MAGIC!r}, a package's start")
    if len(data) < _HEADER.size:
        raise _wrong(file, len(data), "the end of the file", f"a header of {_HEADER.size} bytes")
    _, zero, version = _HEADER.unpack_from(data)
    if zero:
        raise _wrong(file, 4, f"0x{zero:08x}", "zero")
    if version not in LIBRARIES:
        raise _wrong(file, 8, f"container version {version}", f"one of: {_listed(LIBRARIES)}")
    return int(version)


def _split(data: bytes, file: str, version: int) -> dict[str, _Section]:
    """Return the sections by name; they fill the file after the header."""
    offset = _HEADER.size
    found = {}
    for name in section_names(version):
        left = len(data) - offset
        if left < _LENGTH.size:
            end = f"{left} bytes up to the end"
            raise _wrong(file, offset, end, f"the 8-byte length of section '{name}'")
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
        found[name] = _Section(start, data[start:offset])
    if offset != len(data):
        raise _wrong(file, offset, f"{len(data) - offset} more bytes", "the end of the file")
    return found


def _decode(found: Mapping[str, _Section], name: str, file: str) -> str:
    """Return a section as text."""
    start, data = found[name]
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x}"
        offset = start + error.start
        raise _wrong(file, offset, byte, f"UTF-8 text in section '{name}'") from None


def program_binary_kind(program_binary: bytes) -> str:
    """Return `SHDR`, `FULLPRGM`, `empty`, or `unknown` for a program binary."""
    if not program_binary:
        return "empty"
    return next(
        (magic.decode() for magic in PROGRAM_BINARY_MAGICS if program_binary.startswith(magic)),
        "unknown",
    )


def sections(package: Package) -> dict[str, bytes]:
    """Return the sections by name, in the order of the file."""
    contents = {
        _PROGRAM: package.program_binary,
        **{library_section(abi): library for abi, library in package.libraries.items()},
        _DESCRIPTION: package.description.encode(),
        _PYTHON: package.python.encode(),
    }
    return {name: contents[name] for name in section_names(package.version)}


def section_names(version: int) -> tuple[str, ...]:
    """Return the names of a version's sections, in the order of the file."""
    return (_PROGRAM, *map(library_section, LIBRARIES[version]), _DESCRIPTION, _PYTHON)


def library_section(abi: str) -> str:
    """Return the name of the section of an ABI's device library."""
    return f"{abi} library"


def _listed(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))
