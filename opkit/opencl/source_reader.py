"""Reads the declarations of a source with clang, and caches them."""

from __future__ import annotations

import codecs
import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opkit.common.errors import OpkitError
from opkit.common.scratch import scratch_folder
from opkit.opencl.clang import (
    PRELUDE,
    SEEN_AS,
    code,
    digest,
    key,
    macros,
    prelude,
    prelude_texts,
    run_unchecked,
    zig,
)
from opkit.opencl.diagnostics import readable
from opkit.opencl.signatures import USER, KernelParameter, VxKernel
from opkit.opencl.source_text import (
    kept_macros,
    origin,
    with_line_directives,
    without_line_directives,
)
from opkit.toolchains.clang_ast import DUMP
from opkit.toolchains.compile_inputs import Inputs, prerequisites

if TYPE_CHECKING:
    from opkit.opencl.syntax_tree import Declarations


_ERRORS = (
    *("-fsyntax-only", "-w", "-ferror-limit=0"),
    *("-fdiagnostics-print-source-range-info", "-fno-caret-diagnostics"),
)
# A name with another meaning in the prelude; the groups are file and name.
_TAKEN = (  # as texts, these two: a run with a cache compiles none of them
    r"(?m)^(.+?):\d+:\d+:\S* error: (?:redefinition of '(?=\w+' as different kind of symbol)|"
    r"redeclaration of '(?=\w+' must have the 'overloadable' attribute))(\w+)"
)
_UNSET = r"(?m)^(.+?:\d+:) (warning: variable '.*' is uninitialized) when used here.*$"
UNSET = "the emulator fills it with NaN, or with bytes 0xAA; a board, with anything"
"""The end of a warning about a variable that is read before anything sets it."""


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
        files: the files that it includes, and a digest of each; empty: where there is none, and
            where clang would look first.
        expanded: whether the macros of the source are expanded in the text.
    """

    kernels: dict[str, VxKernel]
    local_variables: tuple[int, ...]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    names: str
    text: str
    files: dict[str, str]
    expanded: bool = False

    def key(self) -> str:
        """Return a cache key for this source and its included files."""
        return json.dumps([self.names, self.text, self.files], sort_keys=True)


@dataclass(frozen=True)
class Broken:
    """A source that does not compile.

    Attributes:
        names: see Reading.
        text: it, corrected as far as possible; compiling it gives the messages.
        expanded: see Reading.
    """

    names: str
    text: str
    expanded: bool = False


def decoded(data: bytes) -> str:
    """Decode a source; `encoded` restores bytes that are not UTF-8."""
    return data.removeprefix(codecs.BOM_UTF8).decode(errors="surrogateescape")


def encoded(text: str) -> bytes:
    """Encode a text from `decoded`."""
    return text.encode(errors="surrogateescape")


def read(
    source: Path, folder: Path, language: tuple[str, ...], flags: tuple[str, ...]
) -> Reading | Broken:
    """Read the declarations of a source, or take them from the cache.

    Args:
        source: the file.
        folder: the cache.
        language: the flags that select the language.
        flags: the flags for code generation, also of the precompiled prelude.

    Raises:
        OpkitError: the source cannot be read, or there is no compiler.
    """
    try:
        text = decoded(source.read_bytes())
    except OSError as error:
        raise OpkitError(f"{source} cannot be read: {error}") from None
    name = key(str(source.resolve()), ascii(text), *language, *prelude_texts())
    cache = folder / f"read-{source.stem}-{name}.json"
    if cache.is_file():
        reading = _from_json(cache.read_text(encoding="utf-8"))
        if reading.files == _digests(reading.files):
            return reading
    reader = _Reader(source, folder, language, flags)
    with scratch_folder(folder) as scratch:
        parsed = reader.read(text, scratch)
        if isinstance(parsed, Reading):
            inputs = Inputs.found((str(source), *parsed.files), [str(source.parent)])
            parsed = replace(parsed, files=_digests(inputs.paths()))
            written = scratch / cache.name
            written.write_text(json.dumps(asdict(parsed)), encoding="utf-8")
            written.replace(cache)
    return parsed


def read_kernels(
    source: Path, folder: Path, language: tuple[str, ...]
) -> dict[str, VxKernel] | None:
    """Return the kernels of a source by name, or None if it does not compile. See read.

    Raises:
        OpkitError: the source cannot be read, or there is no compiler.
    """
    reading = read(source, folder.resolve(), language, code(sanitize=True, debug=False))
    return reading.kernels if isinstance(reading, Reading) else None


def _from_json(text: str) -> Reading:
    values: dict[str, Any] = json.loads(text)
    kernels = {}
    for name, kernel in values["kernels"].items():
        parameters = tuple(KernelParameter(**parameter) for parameter in kernel["parameters"])
        group = kernel["group"] and (kernel["group"][0], kernel["group"][1], kernel["group"][2])
        uniforms = tuple(kernel["uniforms"])
        kernels[name] = VxKernel(
            **{**kernel, "parameters": parameters, "group": group, "uniforms": uniforms}
        )
    lists = {name: tuple(values[name]) for name in ("local_variables", "problems", "warnings")}
    return Reading(**{**values, **lists, "kernels": kernels})


@dataclass(frozen=True)
class _Unit:
    """A text that clang is to read; see Reading."""

    data: bytes
    warnings: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    expanded: bool = False


class _Reader:
    """Runs clang for the syntax tree of a source; imports the tree's reader only then."""

    def __init__(
        self, source: Path, folder: Path, language: tuple[str, ...], flags: tuple[str, ...]
    ) -> None:
        self.source = source
        self.language = language
        self.folder = folder
        self.flags = (*self.language, *flags)
        self.own = (SEEN_AS, str(PRELUDE), str(folder))
        self.quoted = ("-iquote", str(source.parent.resolve()))

    def read(self, text: str, scratch: Path) -> Reading | Broken:
        """Return the declarations of the source, given its text and a folder for clang's files."""
        from opkit.opencl.syntax_tree import split

        names, unit = "", _Unit(encoded(text))
        copy = scratch / self.source.name
        found = self._parse(unit.data, names, copy)
        if found is None or found[0].foreign:
            names = self._names(unit.data, copy)
            unit = self._corrected(unit.data, names, copy)
            found = self._parse(unit.data, names, copy)
        if found is not None and found[0].mixed:
            unit = replace(unit, data=split(unit.data, found[0].mixed))
            found = self._parse(unit.data, names, copy)
        if found is None:
            return Broken(names, decoded(unit.data), unit.expanded)
        declared, files = found

        def place(found: re.Match[str]) -> str:
            file, line = origin(unit.data, int(found[1]))
            return f"{file or self.source}:{line}"

        def located(messages: Iterable[str]) -> tuple[str, ...]:
            """Return messages about lines of the text with their places in the source."""
            return tuple(re.sub(rf"{re.escape(str(copy))}:(\d+)", place, each) for each in messages)

        return Reading(
            declared.kernels,
            declared.local_variables,
            located(declared.problems),
            (*unit.warnings, *located(declared.warnings)),
            names,
            decoded(unit.data),
            {**unit.files, **files},
            unit.expanded,
        )

    def _corrected(self, data: bytes, names: str, copy: Path) -> _Unit:
        """Return a text with its corrections; if some are in macros, the macros are expanded."""
        from opkit.opencl.source_text import corrected, in_macros

        def errors(text: bytes) -> str:
            return self._errors(without_line_directives(text), names, copy)

        source = str(self.source)
        is_in_macros = in_macros(errors(data), self.own)
        expanded = self._expanded(data, copy) if is_in_macros else None
        if expanded is not None:
            result, warned = corrected(expanded.data, source, errors)
            warnings = [_warning(origin(result, each.line), each.text) for each in warned]
            if result != expanded.data or expanded.warnings:
                warnings = [*expanded.warnings, *dict.fromkeys(warnings)]
                return replace(expanded, data=result, warnings=tuple(warnings))
        result, warned = corrected(data, source, errors)
        warnings = [_warning((source, each.line, each.column), each.text) for each in warned]
        return _Unit(result, tuple(warnings))

    def _expanded(self, data: bytes, copy: Path) -> _Unit | None:
        """Return a text with its macros expanded, or None if they cannot be."""
        from opkit.opencl.source_text import pasted

        definitions = run_unchecked(
            *(zig(), "clang", "-x", "cl", *self.language, "-dM", "-E", str(PRELUDE / "prelude.h"))
        ).stdout
        rule = copy.with_name("rule.d")
        header = copy.with_name(".kept")
        header.write_text(kept_macros(macros() + definitions), encoding="utf-8")
        copy.write_bytes(data)
        result = run_unchecked(
            *(zig(), "clang", "-x", "cl", *self.language, "-w", "-E", "-ferror-limit=0"),
            *("-MD", "-MF", str(rule), "-include", str(header), *self.quoted),
            *("-I", str(PRELUDE), str(copy)),
        )
        warned = pasted(result.stderr)
        if warned is None:
            return None
        text = with_line_directives(encoded(result.stdout))
        path = json.dumps(str(copy)).encode(), json.dumps(str(self.source)).encode()
        return _Unit(
            text.replace(*path),
            tuple(
                _warning((str(self.source), each.line, each.column), each.text) for each in warned
            ),
            self._included(rule),
            expanded=True,
        )

    def _included(self, rule: Path) -> dict[str, str]:
        """Return the files of the user that a make rule names, with their digests."""
        names = prerequisites(rule.read_text(encoding="utf-8"))
        return _digests(name for name in names if not name.startswith(self.own))

    def _parse(
        self, data: bytes, names: str, copy: Path
    ) -> tuple[Declarations, dict[str, str]] | None:
        """Return the declarations of a text, and its included files with their digests."""
        from opkit.opencl.syntax_tree import declarations

        rule = copy.with_name("rule.d")
        outline = ("-include", f"{SEEN_AS}/outline.h", "-MD", "-MF", str(rule))
        warns = ("-Wno-everything", "-Wuninitialized", "-Wfatal-errors", "-fno-show-column")
        result = self._run(data, names, copy, (*outline, "-fsyntax-only", *DUMP, *warns))
        if result.returncode != 0:
            return None
        declared = declarations(result.stdout, str(copy), SEEN_AS)
        unset = (f"{each[1]} {each[2]}; {UNSET}" for each in re.finditer(_UNSET, result.stderr))
        declared = replace(declared, warnings=(*declared.warnings, *dict.fromkeys(unset)))
        return declared, self._included(rule)

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
            *(*flags, "-include", str(header), *self.quoted, str(copy)),
        )

    def _names(self, data: bytes, copy: Path) -> str:
        """Return macros for the names that both the prelude and the source declare."""
        from opkit.opencl.syntax_tree import declared_names

        # Read without any of the prelude's macros
        copy.write_bytes(data)
        mark = '__attribute__((annotate("kernel",1)))'
        result = run_unchecked(
            *(zig(), "clang", "-x", "cl", *self.language, "-fsyntax-only", *DUMP, "-w"),
            *("-ferror-limit=0", f"-D__kernel={mark}", f"-Dkernel={mark}", *self.quoted),
            *("-I", str(PRELUDE), str(copy)),
        )
        undefined = "".join(f"#undef {name}\n" for name in declared_names(result.stdout))
        errors = self._errors(data, undefined, copy)
        taken = dict.fromkeys(
            error[2] for error in re.finditer(_TAKEN, errors) if error[1] == str(self.source)
        )
        return undefined + "".join(
            f"#undef {name}\n#define {name} {USER}{name}\n" for name in taken
        )


def _warning(place: Iterable[str | int], text: str) -> str:
    """Return a warning in the words of the language; its place has a file, a line, a column."""
    return readable(f"{':'.join(map(str, place))}: warning: {text}", "\0", "\0")


def _digests(files: Iterable[str]) -> dict[str, str]:
    return {
        str(file): digest(file.read_bytes()) if file.is_file() else ""
        for file in (Path(name).absolute() for name in files)
    }
