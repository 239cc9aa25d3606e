"""Check that the dynamic loader of a target system accepts a compiled library.

On the device, such an error is a line on standard error, or a crash later; here it is a message at
build time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from opkit import bounded_file
from opkit.toolchains.abi import Abi
from opkit.toolchains.elf import ElfError, Library, glibc_version, read, version_key


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
        library = read(bounded_file.read(path, "a library"))
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
        if not version.startswith("GLIBC_"):
            continue
        glibc = glibc_version(version)
        if glibc is None or version_key(glibc) > version_key(abi.glibc_ceiling):
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


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
