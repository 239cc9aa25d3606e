"""Reads the declarations of a `.vx` source with clang, and caches them."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opkit.errors import OpkitError
from opkit.runtimes.rknn.vx.clang import (
    PRELUDE,
    code,
    digest,
    key,
    language,
    precompiled,
    prelude_texts,
    run_unchecked,
    zig,
)
from opkit.runtimes.rknn.vx.signatures import KernelParameter, VxKernel

if TYPE_CHECKING:
    from opkit.runtimes.rknn.vx.syntax_tree import Declarations

_TREE = ("-fsyntax-only", "-w", "-Xclang", "-ast-dump=json")


@dataclass(frozen=True)
class Reading:
    """The declarations of a source.

    Attributes:
        kernels: by name, in the order of the source.
        local_variables: the numbers of the `__local` that stand before variables, not pointers.
        problems: what is not emulated.
        text: what is compiled in its place; lines and columns are the same.
        files: the files that it includes, and a digest of each.
    """

    kernels: dict[str, VxKernel]
    local_variables: tuple[int, ...]
    problems: tuple[str, ...]
    text: str
    files: dict[str, str]

    def key(self) -> str:
        """Return a cache key for this source and what it includes."""
        return json.dumps([self.text, self.files], sort_keys=True)


def read(source: Path, folder: Path, vx_version: int, flags: tuple[str, ...]) -> Reading | None:
    """Read what a source declares, or take it from the cache.

    Args:
        source: the `.vx` file.
        folder: the cache.
        vx_version: VX_VERSION in the source.
        flags: for code generation; the prelude is precompiled with the same ones.

    Returns:
        None if it does not compile; compiling it gives the messages.

    Raises:
        OpkitError: the source cannot be read, or there is no compiler.
    """
    try:
        data = source.read_bytes()
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise OpkitError(f"{source} cannot be read: {error}") from None
    name = key(str(source.resolve()), text, *language(vx_version), *prelude_texts())
    cache = folder / f"read-{source.stem}-{name}.json"
    if cache.is_file():
        reading = _from_json(cache.read_text(encoding="utf-8"))
        if reading.files == _digests(reading.files):
            return reading
    parsed = _Reader(source, folder, vx_version, flags).read(data)
    if parsed is not None:
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
            file.write(json.dumps(asdict(parsed)))
        Path(file.name).replace(cache)
    return parsed


def read_kernels(source: Path, folder: Path, vx_version: int) -> dict[str, VxKernel] | None:
    """Return the kernels of a source by name, or None if it does not compile. See read.

    Raises:
        OpkitError: the source cannot be read, or there is no compiler.
    """
    reading = read(source, folder.resolve(), vx_version, code(sanitize=True, debug=False))
    return None if reading is None else reading.kernels


class _Reader:
    """Runs clang for the syntax tree of a source; imports the tree's reader only then."""

    def __init__(self, source: Path, folder: Path, vx_version: int, flags: tuple[str, ...]) -> None:
        self.source = source
        self.language = language(vx_version)
        self.header = precompiled(folder, (*self.language, *flags))
        self.flags = (*self.language, *flags)
        self.include_flags = ("-iquote", str(source.parent.resolve()), "-I", str(PRELUDE))

    def read(self, data: bytes) -> Reading | None:
        """Return what the source declares, given its bytes; None if it does not compile."""
        from opkit.runtimes.rknn.vx.syntax_tree import split

        with tempfile.TemporaryDirectory() as folder:
            found = self._parse(self.source, Path(folder))
            if found is None:
                return None
            declared, files = found
            if declared.mixed:
                data = split(data, declared.mixed)
                again = Path(folder, self.source.name)
                again.write_bytes(data)
                found = self._parse(again, Path(folder))
                if found is None:
                    return None
                declared, _ = found
        return Reading(
            declared.kernels, declared.local_variables, declared.problems, data.decode(), files
        )

    def _parse(self, source: Path, folder: Path) -> tuple[Declarations, dict[str, str]] | None:
        """Return what a source declares, and the files that it includes, with their digests."""
        undefined = folder / "undefined.h"
        undefined.write_text("", encoding="utf-8")
        found = self._parse_with_prelude(source, undefined)
        if found is None or found[0].foreign:
            # A kernel may have the name of a macro of the prelude.
            names = self._kernel_names(source)
            undefined.write_text("".join(f"#undef {name}\n" for name in names), encoding="utf-8")
            found = self._parse_with_prelude(source, undefined)
        return found

    def _parse_with_prelude(
        self, source: Path, undefined: Path
    ) -> tuple[Declarations, dict[str, str]] | None:
        from opkit.runtimes.rknn.vx.syntax_tree import declarations

        rule = undefined.with_suffix(".d")
        result = run_unchecked(
            *(zig(), "clang", "-x", "cl", *self.flags, *_TREE, "-Wfatal-errors"),
            *("-include-pch", str(self.header), "-include", str(PRELUDE / "outline.h")),
            *("-include", str(undefined), *self.include_flags, "-MD", "-MF", str(rule)),
            str(source),
        )
        if result.returncode != 0:
            return None
        ours = (str(PRELUDE), str(self.header.parent.parent), str(undefined), str(source))
        files = [
            each
            for each in _prerequisites(rule.read_text(encoding="utf-8"))
            if not each.startswith(ours)
        ]
        return declarations(result.stdout, str(source), str(PRELUDE)), _digests(files)

    def _kernel_names(self, source: Path) -> list[str]:
        """Return the names of the kernels of a source that has none of the prelude's macros."""
        from opkit.runtimes.rknn.vx.syntax_tree import kernel_names

        mark = '__attribute__((annotate("kernel",1)))'
        result = run_unchecked(
            *(zig(), "clang", "-x", "cl", *self.language, *_TREE, "-ferror-limit=0"),
            *(f"-D__kernel={mark}", f"-Dkernel={mark}", *self.include_flags, str(source)),
        )
        return kernel_names(result.stdout)


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
