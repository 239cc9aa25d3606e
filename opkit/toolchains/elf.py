"""The dynamic-linking facts of compiled libraries, and their check for a target's loader.

On the device, such an error is a line on standard error, or a crash later; here it is a message at
build time.

"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.toolchains.abi import Abi

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
        page_size: the largest pages for which all its segments are aligned; 0: it has none.
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
    page_size: int


def read(data: bytes) -> Library:
    """Return the dynamic-linking facts of a library: needed libraries, symbols, versions.

    Args:
        data: the whole file.

    Raises:
        ElfError: it is not an ELF file, is too large, or is damaged.
    """
    from elftools.elf.elffile import ELFFile  # slow, and only after a link

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
        page_size=min(
            (each["p_align"] for each in file.iter_segments() if each["p_type"] == "PT_LOAD"),
            default=0,
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


@dataclass(frozen=True)
class SystemLibrary:
    """A library that every target system has.

    Attributes:
        name: its file, such as `libm.so.6`.
        symbols: a regular expression for the begin of symbols that only it can define; None: only
            symbols with a version, which identifies their library.
        exports: the symbols that it defines; None: not checked.
    """

    name: str
    symbols: str | None = None
    exports: frozenset[str] | None = None

    @property
    def link_flag(self) -> str:
        """The flag for linking with it."""
        return f"-l{self.name.partition('.so')[0].removeprefix('lib')}"

    def has_to_define(self, symbol: str) -> bool:
        """Return whether only this library can define an undefined symbol without a version."""
        return self.symbols is not None and re.match(self.symbols, symbol) is not None


@dataclass(frozen=True)
class Requirements:
    """The requirements on a library besides its ABI.

    Attributes:
        exports: the symbols that it must export; it must not export others.
        libraries: the libraries that it may need.
    """

    exports: tuple[str, ...]
    libraries: tuple[SystemLibrary, ...]


def check(path: Path, abi: Abi, requirements: Requirements, any_glibc: bool = False) -> None:
    """Check that every target system of an ABI accepts a library.

    Args:
        path: the library.
        abi: the ABI that it must be compiled for.
        requirements: the other requirements.
        any_glibc: whether it may require a newer glibc than devices have, as a library that only
            runs on this PC may.

    Raises:
        OpkitError: it cannot be read, or would not load correctly; the message lists every
            reason.
    """
    try:
        library = read(file_io.read_bounded(path, "a library"))
    except ElfError as error:
        raise ElfError(f"{path}: {error}") from None
    if problems := [*_problems(library, abi, requirements, any_glibc)]:
        lines = "".join(f"\n  - {problem}" for problem in problems)
        raise ElfError(f"{path}: not a library that every {abi.name} system can use:{lines}")


def _problems(
    library: Library, abi: Abi, requirements: Requirements, any_glibc: bool
) -> Iterator[str]:
    if library.architecture != abi.elf:
        yield f"it is {library.architecture}; {abi.name} is {abi.elf}"
    if not library.shared:
        yield "it is not a shared library; link with -shared"
    required = requirements.exports
    absent = [name for name in required if name not in library.exports]
    if absent:
        yield f"it does not export {', '.join(absent)}, which the runtime looks up"
    others = [name for name in library.exports if name not in required]
    if others:
        yield (
            f"it exports {', '.join(others)} besides {', '.join(required)}; two operators in one "
            "process would clash: make them static"
        )
    names = [each.name for each in requirements.libraries]
    for name in library.needed:
        if name not in (*names, abi.loader):
            yield f"it needs {name}; the board has {', '.join(names)}"
    for version, symbols in library.versions.items():
        if any_glibc or not abi.glibc_ceiling or not version.startswith("GLIBC_"):
            continue
        glibc = glibc_version(version)
        if glibc is None or version_key(glibc) > version_key(abi.glibc_ceiling):
            yield (
                f"it needs {version} ({', '.join(symbols) or 'no symbol'}), but an {abi.name} "
                f"system may have glibc {abi.glibc_ceiling}: build with toolchain=zig, or with a "
                "compiler whose glibc is no newer"
            )
    yield from _undefined(library, requirements.libraries)
    if library.run_paths:
        yield f"it has the run path {', '.join(library.run_paths)}; link without -rpath"
    if library.executable_stack:
        yield "it asks for an executable stack; link with -z noexecstack"
    if library.text_relocations:
        yield "it has text relocations; compile with -fPIC"
    if library.page_size < abi.page_size:
        yield (
            f"its segments are aligned to {library.page_size} bytes, but an {abi.name} system may "
            f"have pages of {abi.page_size}; link with -Wl,-z,max-page-size={abi.page_size}"
        )


def _undefined(library: Library, present: Sequence[SystemLibrary]) -> Iterator[str]:
    others = list(library.unversioned)
    for each in present:
        calls = [name for name in others if each.has_to_define(name)]
        others = [name for name in others if name not in calls]
        if calls and each.name not in library.needed:
            missing = f"without needing {each.name}; link with {each.link_flag}"
            yield f"it calls {', '.join(calls)} {missing}"
        refused = [name for name in calls if each.exports is not None and name not in each.exports]
        if refused:
            yield f"it calls {', '.join(refused)}, which the board's {each.name} does not export"
    if others:
        yield f"it uses {', '.join(others)}, which no library that it needs defines"
