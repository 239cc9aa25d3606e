"""Is a compiled library one that the dynamic loader of a target system accepts?

What goes wrong there shows as a line on the device's standard error, or as a crash later; here it
is a message at build time.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.elf.constants import E_FLAGS, P_FLAGS
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection, GNUVerSymSection
from elftools.elf.sections import SymbolTableSection

from opkit.errors import OpkitError
from opkit.toolchains.abi import Abi

_DF_TEXTREL = 0x4
_STRONG = frozenset({"STB_GLOBAL", "STB_LOOS"})  # LOOS is what pyelftools calls GNU_UNIQUE
_GLIBC = re.compile(r"GLIBC_(\d+(?:\.\d+)*)")


class ElfError(OpkitError):
    """A library that a target system would refuse."""


@dataclass(frozen=True)
class SystemLibrary:
    """A library that every target system has.

    Attributes:
        name: its file, such as `libm.so.6`.
        symbols: how the symbols begin that only it can define, as a regular expression; None: none
            but those with a version, which say themselves whose they are.
        exports: what it defines; None leaves that unchecked.
    """

    name: str
    symbols: str | None = None
    exports: frozenset[str] | None = None

    @property
    def link_flag(self) -> str:
        """The flag that links with it."""
        return f"-l{self.name.partition('.so')[0].removeprefix('lib')}"

    def has_to_define(self, symbol: str) -> bool:
        """Whether only this library can define an undefined symbol without a version."""
        return self.symbols is not None and re.match(self.symbols, symbol) is not None


@dataclass(frozen=True)
class Requirements:
    """What a library has to be besides compiled for its ABI.

    Attributes:
        exports: the symbols that it has to export; it may not export others.
        libraries: the libraries that it may need.
    """

    exports: tuple[str, ...]
    libraries: tuple[SystemLibrary, ...]


@dataclass(frozen=True)
class Library:
    """What a dynamic loader sees of a library.

    Attributes:
        architecture: machine, word size, byte order and, on ARM, the calling convention.
        shared: whether it is a shared object, not a program or an object file.
        exports: the defined symbols that others can bind to.
        unversioned: the undefined, not weak symbols without a version: none of them is glibc's.
        needed: the libraries that it loads.
        versions: symbol version that it asks for -> the symbols that ask.
        run_paths: the folders of RPATH and RUNPATH.
        executable_stack: whether it asks for an executable stack.
        text_relocations: whether the loader has to write into its code.
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


def check(path: Path, abi: Abi, requirements: Requirements, any_glibc: bool = False) -> None:
    """Check a library against what the target systems of an ABI accept.

    Args:
        path: the library.
        abi: what it has to be compiled for.
        requirements: what else it has to be.
        any_glibc: whether it may ask for a glibc that devices do not have, as a library that only
            runs on this PC may.

    Raises:
        ElfError: it would not load, or not as it should; the message lists every reason.
    """
    try:
        library = read(path.read_bytes())
    except OSError as error:
        raise ElfError(f"{path}: cannot be read: {error.strerror}") from None
    except ElfError as error:
        raise ElfError(f"{path}: {error}") from None
    problems = [
        *_file(library, abi),
        *_exports(library, requirements.exports),
        *_needed(library, requirements.libraries),
        *(() if any_glibc else _glibc(library, abi)),
        *_undefined(library, requirements.libraries),
        *_memory(library),
    ]
    if problems:
        lines = "".join(f"\n  - {problem}" for problem in problems)
        raise ElfError(f"{path}: not a library that every {abi.name} system can use:{lines}")


def read(data: bytes) -> Library:
    """Return what a dynamic loader sees of a library.

    Args:
        data: the whole file.

    Raises:
        ElfError: it is no ELF file, or a broken one.
    """
    if not data.startswith(b"\x7fELF"):
        raise ElfError(f"not an ELF file: it begins with {data[:4]!r}")
    try:
        return _read(ELFFile(_Bounded(data)))
    except Exception as error:
        # pyelftools has no common exception for what it meets in a cut or damaged file.
        raise ElfError(f"a damaged ELF file of {len(data)} bytes: {error}") from None


class _Bounded(io.BytesIO):
    """A file that can be read a few times over, but not without end.

    Counts in a damaged file may be anything, and its symbols may all have one endless name. A
    library takes up to a read for four bytes, and less than four times its size.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._reads = 4_000 + len(data) // 2
        self._bytes = 64_000 + 4 * len(data)

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self._reads -= 1
        self._bytes -= len(data)
        if self._reads < 0 or self._bytes < 0:
            raise ElfError("its counts and names lead beyond its size")
        return data


def newest_glibc(library: Library) -> str | None:
    """Return the newest glibc version that a library asks for, such as `2.17`."""
    numbers = [
        match.group(1) for match in map(_GLIBC.fullmatch, library.versions) if match is not None
    ]
    return max(numbers, key=_number, default=None)


def _file(library: Library, abi: Abi) -> Iterator[str]:
    if library.architecture != abi.elf:
        yield f"it is {library.architecture}; {abi.name} is {abi.elf}"
    if not library.shared:
        yield "it is not a shared library; link with -shared"


def _exports(library: Library, required: Sequence[str]) -> Iterator[str]:
    absent = [name for name in required if name not in library.exports]
    if absent:
        yield f"it does not export {_listed(absent)}, which the runtime looks up"
    others = [name for name in library.exports if name not in required]
    if others:
        yield (
            f"it exports {_listed(others)} besides {_listed(required)}; two operators in one "
            "process would clash: make them static"
        )


def _needed(library: Library, present: Sequence[SystemLibrary]) -> Iterator[str]:
    names = [each.name for each in present]
    for name in library.needed:
        if name not in names:
            yield f"it needs {name}; the board has {_listed(names)}"


def _glibc(library: Library, abi: Abi) -> Iterator[str]:
    for version, symbols in library.versions.items():
        match = _GLIBC.fullmatch(version)
        if not version.startswith("GLIBC_"):
            continue
        if match is None or _number(match.group(1)) > _number(abi.glibc_ceiling):
            yield (
                f"it needs {version} ({_listed(symbols) or 'no symbol'}), but an {abi.name} system "
                f"may have glibc {abi.glibc_ceiling}: build with toolchain=zig, or with a compiler "
                "whose glibc is no newer"
            )


def _undefined(library: Library, present: Sequence[SystemLibrary]) -> Iterator[str]:
    others = list(library.unversioned)
    for each in present:
        calls = [name for name in others if each.has_to_define(name)]
        others = [name for name in others if name not in calls]
        if calls and each.name not in library.needed:
            missing = f"without needing {each.name}; link with {each.link_flag}"
            yield f"it calls {_listed(calls)} {missing}"
        refused = [name for name in calls if each.exports is not None and name not in each.exports]
        if refused:
            yield f"it calls {_listed(refused)}, which the board's {each.name} does not export"
    if others:
        yield f"it uses {_listed(others)}, which no library that it needs defines"


def _memory(library: Library) -> Iterator[str]:
    if library.run_paths:
        yield f"it has the run path {_listed(library.run_paths)}; link without -rpath"
    if library.executable_stack:
        yield "it asks for an executable stack; link with -z noexecstack"
    if library.text_relocations:
        yield "it has text relocations; compile with -fPIC"


def _read(elf: ELFFile) -> Library:
    segments = {segment["p_type"]: segment for segment in elf.iter_segments()}
    dynamic = segments.get("PT_DYNAMIC")
    # Any: which attribute a tag has (needed, rpath, runpath) depends on its value.
    tags: list[Any] = list(dynamic.iter_tags()) if isinstance(dynamic, DynamicSegment) else []
    stack = segments.get("PT_GNU_STACK")
    versions = _needed_versions(elf)
    exports, unversioned = [], []
    for name, symbol, version in _symbols(elf):
        bind, visibility = symbol["st_info"]["bind"], symbol["st_other"]["visibility"]
        if version in versions:
            versions[version][1].append(name)
        elif symbol["st_shndx"] == "SHN_UNDEF":
            if bind in _STRONG:
                unversioned.append(name)
        elif bind in _STRONG | {"STB_WEAK"} and visibility in ("STV_DEFAULT", "STV_PROTECTED"):
            exports.append(name)
    return Library(
        architecture=_architecture(elf),
        # A position-independent program is ET_DYN too, but names its interpreter.
        shared=elf["e_type"] == "ET_DYN" and "PT_INTERP" not in segments,
        exports=tuple(sorted(exports)),
        unversioned=tuple(sorted(unversioned)),
        needed=tuple(tag.needed for tag in tags if tag["d_tag"] == "DT_NEEDED"),
        versions=_by_name(versions.values()),
        run_paths=tuple(
            [tag.rpath for tag in tags if tag["d_tag"] == "DT_RPATH"]
            + [tag.runpath for tag in tags if tag["d_tag"] == "DT_RUNPATH"]
        ),
        # Linux makes the stack executable for a library that does not say.
        executable_stack=stack is None or bool(stack["p_flags"] & P_FLAGS.PF_X),
        text_relocations=any(
            tag["d_tag"] == "DT_TEXTREL"
            or (tag["d_tag"] == "DT_FLAGS" and tag["d_val"] & _DF_TEXTREL)
            for tag in tags
        ),
    )


def _architecture(elf: ELFFile) -> str:
    words = [
        elf["e_machine"],
        f"{elf.elfclass}-bit",
        "little-endian" if elf.little_endian else "big-endian",
    ]
    if elf["e_machine"] == "EM_ARM":
        flags = elf["e_flags"]
        words += [
            f"EABI{(flags & E_FLAGS.EF_ARM_EABIMASK) >> 24}",
            "hard-float" if flags & E_FLAGS.EF_ARM_ABI_FLOAT_HARD else "soft-float",
        ]
    return " ".join(map(str, words))


def _needed_versions(elf: ELFFile) -> dict[int, tuple[str, list[str]]]:
    """Return version index -> (version name, room for the symbols that ask for it)."""
    section = elf.get_section_by_name(".gnu.version_r")
    if not isinstance(section, GNUVerNeedSection):
        return {}
    return {
        version["vna_other"]: (version.name, [])
        for _, versions in section.iter_versions()
        for version in versions
    }


def _symbols(elf: ELFFile) -> Iterator[tuple[str, Any, int]]:
    """Yield name, symbol and version index of every dynamic symbol."""
    section = elf.get_section_by_name(".dynsym")
    if not isinstance(section, SymbolTableSection):
        return
    versions = elf.get_section_by_name(".gnu.version")
    for index, symbol in enumerate(section.iter_symbols()):
        version = versions.get_symbol(index)["ndx"] if isinstance(versions, GNUVerSymSection) else 0
        # pyelftools gives the two reserved indices, 0 and 1, as names; bit 15 means hidden.
        yield symbol.name, symbol, version & 0x7FFF if isinstance(version, int) else 0


def _by_name(versions: Iterable[tuple[str, list[str]]]) -> dict[str, tuple[str, ...]]:
    """Merge the entries of equal versions; libc and libm each have their own."""
    merged: dict[str, list[str]] = {}
    for name, symbols in versions:
        merged.setdefault(name, []).extend(symbols)
    return {name: tuple(sorted(symbols)) for name, symbols in sorted(merged.items())}


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
