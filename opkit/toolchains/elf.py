"""Read the dynamic-linking facts of a compiled library, by pyelftools."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from elftools.elf.elffile import ELFFile

from opkit.errors import OpkitError

MAX_SIZE = 64 << 20
"""The maximum size of a library in bytes: pyelftools needs about a second for 10 MB of symbols."""
_GLIBC = re.compile(r"GLIBC_(\d{1,9}(?:\.\d{1,9})*)")
_EF_ARM_ABI_FLOAT_HARD = 0x400
_PF_X = 1
_DF_TEXTREL = 4
_STRONG = ("STB_GLOBAL", "STB_LOOS")
"""Bindings of strong symbols; STB_LOOS is the number of STB_GNU_UNIQUE."""
_VISIBLE = ("STV_DEFAULT", "STV_PROTECTED")
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
        ElfError: it is not an ELF file, is too large, or is damaged.
    """
    if not data.startswith(b"\x7fELF"):
        raise ElfError(f"not an ELF file: it begins with {data[:4]!r}")
    if len(data) > MAX_SIZE:
        raise ElfError(f"an ELF file of {len(data)} bytes (expected {MAX_SIZE} at most)")
    try:
        return _library(ELFFile(io.BytesIO(data)))
    except Exception as error:  # pyelftools raises many kinds for damaged files
        problem = f"{type(error).__name__}: {error}"
        raise ElfError(f"a damaged ELF file of {len(data)} bytes: {problem}") from None


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


def _library(file: Any) -> Library:
    segments = {each["p_type"]: each for each in file.iter_segments()}
    dynamic = segments.get("PT_DYNAMIC")
    tags = [] if dynamic is None else list(dynamic.iter_tags())
    stack = segments.get("PT_GNU_STACK")
    sections = {each["sh_type"]: each for each in file.iter_sections()}

    exports, unversioned = [], []
    needed_versions = {
        auxiliary["vna_other"]: (auxiliary.name, list[str]())
        for _, entries in _entries(sections.get("SHT_GNU_verneed"), "iter_versions")
        for auxiliary in entries
    }
    indices = [
        each["ndx"] if isinstance(each["ndx"], int) else 0
        for each in _entries(sections.get("SHT_GNU_versym"), "iter_symbols")
    ]
    for number, symbol in enumerate(_entries(sections.get("SHT_DYNSYM"), "iter_symbols")):
        name, bind = _printable(symbol.name), symbol["st_info"]["bind"]
        version = indices[number] & _VERSION_INDEX if indices else 0
        if version in needed_versions:
            needed_versions[version][1].append(name)
        elif symbol["st_shndx"] == "SHN_UNDEF":
            if bind in _STRONG:
                unversioned.append(name)
        elif bind in (*_STRONG, "STB_WEAK") and symbol["st_other"]["visibility"] in _VISIBLE:
            exports.append(name)
    versions: dict[str, list[str]] = {}
    for name, symbols in needed_versions.values():  # libc and libm each have their own
        versions.setdefault(_printable(name), []).extend(symbols)

    return Library(
        architecture=_architecture(file),
        # A position-independent program is ET_DYN too, but names its interpreter.
        shared=file["e_type"] == "ET_DYN" and "PT_INTERP" not in segments,
        exports=tuple(sorted(exports)),
        unversioned=tuple(sorted(unversioned)),
        needed=tuple(_printable(each.needed) for each in tags if each.entry.d_tag == "DT_NEEDED"),
        versions={name: tuple(sorted(symbols)) for name, symbols in sorted(versions.items())},
        run_paths=(
            *(_printable(each.rpath) for each in tags if each.entry.d_tag == "DT_RPATH"),
            *(_printable(each.runpath) for each in tags if each.entry.d_tag == "DT_RUNPATH"),
        ),
        # Linux makes the stack executable for a library without this segment.
        executable_stack=stack is None or bool(stack["p_flags"] & _PF_X),
        text_relocations=any(
            each.entry.d_tag == "DT_TEXTREL"
            or (each.entry.d_tag == "DT_FLAGS" and each.entry.d_val & _DF_TEXTREL)
            for each in tags
        ),
    )


def _entries(section: Any, method: str) -> Iterator[Any]:
    return iter(()) if section is None else getattr(section, method)()


def _printable(name: str) -> str:
    """Return a name with unprintable characters escaped."""
    return name if name.isprintable() else ascii(name)[1:-1]


def _architecture(file: Any) -> str:
    machine, flags = file["e_machine"], file["e_flags"]
    words = [
        machine if isinstance(machine, str) else f"machine {machine}",
        f"{file.elfclass}-bit",
        "little-endian" if file.little_endian else "big-endian",
    ]
    if machine == "EM_ARM":
        words += [
            f"EABI{flags >> 24}",
            "hard-float" if flags & _EF_ARM_ABI_FLOAT_HARD else "soft-float",
        ]
    return " ".join(words)
