"""Reads the declarations of a `.vx` source with clang, and caches them."""

from __future__ import annotations

import codecs
import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opkit.errors import OpkitError
from opkit.runtimes.rknn.vx.clang import (
    PRELUDE,
    SEEN_AS,
    code,
    digest,
    key,
    language,
    prelude,
    prelude_texts,
    run_unchecked,
    zig,
)
from opkit.runtimes.rknn.vx.signatures import USER, KernelParameter, VxKernel
from opkit.scratch import scratch_folder
from opkit.toolchains.clang_ast import DUMP

if TYPE_CHECKING:
    from opkit.runtimes.rknn.vx.syntax_tree import Declarations

_ERRORS = (
    *("-fsyntax-only", "-w", "-ferror-limit=0"),
    *("-fdiagnostics-print-source-range-info", "-fno-caret-diagnostics"),
)
# A name with another meaning in the prelude; the groups are file and name.
_TAKEN = re.compile(
    r"^(.+?):\d+:\d+:\S* error: (?:redefinition of '(?=\w+' as different kind of symbol)|"
    r"redeclaration of '(?=\w+' must have the 'overloadable' attribute))(\w+)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Reading:
    """The declarations of a source.

    Attributes:
        kernels: by name, in the order of the source.
        local_variables: the numbers of the `__local` that stand before variables, not pointers.
        problems: messages about features that are not emulated.
        warnings: messages about code that clang accepts only after a correction.
        names: macros that free names of the prelude for the source's own declarations.
        text: the corrected text to compile; the lines are the same.
        files: the files that it includes, and a digest of each.
    """

    kernels: dict[str, VxKernel]
    local_variables: tuple[int, ...]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    names: str
    text: str
    files: dict[str, str]

    def key(self) -> str:
        """Return a cache key for this source and its included files."""
        return json.dumps([self.names, self.text, self.files], sort_keys=True)


@dataclass(frozen=True)
class Broken:
    """A source that does not compile.

    Attributes:
        names: see Reading.
        text: it, corrected as far as possible; compiling it gives the messages.
    """

    names: str
    text: str


def decoded(data: bytes) -> str:
    """Decode a source; `encoded` restores bytes that are not UTF-8."""
    return data.removeprefix(codecs.BOM_UTF8).decode(errors="surrogateescape")


def encoded(text: str) -> bytes:
    """Encode a text from `decoded`."""
    return text.encode(errors="surrogateescape")


def read(source: Path, folder: Path, vx_version: int, flags: tuple[str, ...]) -> Reading | Broken:
    """Read the declarations of a source, or take them from the cache.

    Args:
        source: the `.vx` file.
        folder: the cache.
        vx_version: VX_VERSION in the source.
        flags: the flags for code generation, also of the precompiled prelude.

    Raises:
        OpkitError: the source cannot be read, or there is no compiler.
    """
    try:
        text = decoded(source.read_bytes())
    except OSError as error:
        raise OpkitError(f"{source} cannot be read: {error}") from None
    name = key(str(source.resolve()), ascii(text), *language(vx_version), *prelude_texts())
    cache = folder / f"read-{source.stem}-{name}.json"
    if cache.is_file():
        reading = _from_json(cache.read_text(encoding="utf-8"))
        if reading.files == _digests(reading.files):
            return reading
    reader = _Reader(source, folder, vx_version, flags)
    with scratch_folder(folder) as scratch:
        parsed = reader.read(text, scratch)
        if isinstance(parsed, Reading):
            written = scratch / cache.name
            written.write_text(json.dumps(asdict(parsed)), encoding="utf-8")
            written.replace(cache)
    return parsed


def read_kernels(source: Path, folder: Path, vx_version: int) -> dict[str, VxKernel] | None:
    """Return the kernels of a source by name, or None if it does not compile. See read.

    Raises:
        OpkitError: the source cannot be read, or there is no compiler.
    """
    reading = read(source, folder.resolve(), vx_version, code(sanitize=True, debug=False))
    return reading.kernels if isinstance(reading, Reading) else None


class _Reader:
    """Runs clang for the syntax tree of a source; imports the tree's reader only then."""

    def __init__(self, source: Path, folder: Path, vx_version: int, flags: tuple[str, ...]) -> None:
        self.source = source
        self.language = language(vx_version)
        self.folder = folder
        self.flags = (*self.language, *flags)
        self.own_folder = ("-iquote", str(source.parent.resolve()))

    def read(self, text: str, scratch: Path) -> Reading | Broken:
        """Return the declarations of the source, given its text and a folder for clang's files."""
        from opkit.runtimes.rknn.vx.corrections import corrected
        from opkit.runtimes.rknn.vx.syntax_tree import split

        data = encoded(text)
        names, warnings = "", list[str]()
        copy = scratch / self.source.name
        found = self._parse(data, names, copy)
        if found is None or found[0].foreign:
            names = self._names(data, copy)
            data, warnings = corrected(
                data, str(self.source), lambda text: self._errors(text, names, copy)
            )
            found = self._parse(data, names, copy)
        if found is not None and found[0].mixed:
            data = split(data, found[0].mixed)
            found = self._parse(data, names, copy)
        if found is None:
            return Broken(names, decoded(data))
        declared, files = found

        def named(message: str) -> str:
            return message.replace(str(copy), str(self.source))

        return Reading(
            declared.kernels,
            declared.local_variables,
            tuple(map(named, declared.problems)),
            (*warnings, *map(named, declared.warnings)),
            names,
            decoded(data),
            files,
        )

    def _parse(
        self, data: bytes, names: str, copy: Path
    ) -> tuple[Declarations, dict[str, str]] | None:
        """Return the declarations of a text, and its included files with their digests."""
        from opkit.runtimes.rknn.vx.syntax_tree import declarations

        rule = copy.with_name("rule.d")
        outline = ("-include", f"{SEEN_AS}/outline.h", "-MD", "-MF", str(rule))
        result = self._run(data, names, copy, (*outline, "-fsyntax-only", *DUMP, "-Wfatal-errors"))
        if result.returncode != 0:
            return None
        ours = (SEEN_AS, str(self.folder))
        files = [
            each
            for each in _prerequisites(rule.read_text(encoding="utf-8"))
            if not each.startswith(ours)
        ]
        declared = declarations(result.stdout, str(copy), SEEN_AS)
        return declared, _digests(files)

    def _errors(self, data: bytes, names: str, copy: Path) -> str:
        """Return clang's messages about a text, with the source's name."""
        result = self._run(data, names, copy, _ERRORS)
        return result.stderr.replace(str(copy), str(self.source))

    def _run(
        self, data: bytes, names: str, copy: Path, flags: Iterable[str]
    ) -> subprocess.CompletedProcess[str]:
        """Run clang on a text, with the prelude and these macros of names."""
        header = copy.with_name(".names")
        header.write_text(names, encoding="utf-8")
        copy.write_bytes(data)
        return run_unchecked(
            *(zig(), "clang", "-x", "cl", *self.flags, *prelude(self.folder, self.flags)),
            *(*flags, "-include", str(header), *self.own_folder, str(copy)),
        )

    def _names(self, data: bytes, copy: Path) -> str:
        """Return macros for the names that both the prelude and the source declare."""
        undefined = "".join(f"#undef {name}\n" for name in self._declared_names(data, copy))
        errors = self._errors(data, undefined, copy)
        taken = dict.fromkeys(
            error[2] for error in _TAKEN.finditer(errors) if error[1] == str(self.source)
        )
        return undefined + "".join(
            f"#undef {name}\n#define {name} {USER}{name}\n" for name in taken
        )

    def _declared_names(self, data: bytes, copy: Path) -> list[str]:
        """Return the names that a source declares, read without any of the prelude's macros."""
        from opkit.runtimes.rknn.vx.syntax_tree import declared_names

        copy.write_bytes(data)
        mark = '__attribute__((annotate("kernel",1)))'
        result = run_unchecked(
            *(
                zig(),
                "clang",
                "-x",
                "cl",
                *self.language,
                "-fsyntax-only",
                *DUMP,
                "-ferror-limit=0",
            ),
            *(f"-D__kernel={mark}", f"-Dkernel={mark}", *self.own_folder),
            *("-I", str(PRELUDE), str(copy)),
        )
        return declared_names(result.stdout)


def _prerequisites(rule: str) -> list[str]:
    """Return the prerequisites of a make rule."""
    words = re.findall(r"(?:\\.|[^\s\\])+", rule.partition(":")[2].replace("\\\n", " "))
    return [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]


def _digests(files: Iterable[str]) -> dict[str, str]:
    return {
        str(file): digest(file.read_bytes()) if file.is_file() else ""
        for file in (Path(name).absolute() for name in files)
    }


def _from_json(text: str) -> Reading:
    values: dict[str, Any] = json.loads(text)
    return Reading(
        {name: _kernel(kernel) for name, kernel in values["kernels"].items()},
        tuple(values["local_variables"]),
        tuple(values["problems"]),
        tuple(values["warnings"]),
        values["names"],
        values["text"],
        values["files"],
    )


def _kernel(values: dict[str, Any]) -> VxKernel:
    group = values["group"]
    return VxKernel(
        values["name"],
        tuple(KernelParameter(**parameter) for parameter in values["parameters"]),
        None if group is None else (group[0], group[1], group[2]),
        values["barrier"],
        tuple(values["uniforms"]),
        values["returns"],
    )
