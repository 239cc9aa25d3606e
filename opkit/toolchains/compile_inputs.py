"""The inputs of a compile: the files that the compiler read, and the places that it searched.

Compilers list the files that they read, except for those of `.incbin`. They do not list the places
without a file: a file that appears there can shadow a header, or change `__has_include`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from opkit.common import file_io

_DIRECTIVE = (  # as texts, these two: most runs compile none of them
    r"""(?:\#|%:)[ \t]*(?:include|include_next|import|embed)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)"""
)
# Searched without a line in the compiler's list; the groups are a literal name.
_UNLISTED = (
    r"""\b__has_(?:include|include_next|embed)[ \t]*\([ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)?"""
    r"""|(?:\\[nt]|[\s";:])\.inc(?:bin|lude)\b[ \t]*(?:\\"([^"\\\n]+)\\")?"""
)


@dataclass(frozen=True)
class Inputs:
    """The inputs of a compile.

    Attributes:
        files: the digest of each file that existed.
        folders: the folders of the search, relative to the working directory.
        names: the names that were searched in them.
        is_complete: whether all names are known: none was computed by macros where the compiler
            does not list it.
    """

    files: Mapping[str, str]
    folders: Sequence[str]
    names: Sequence[str]
    is_complete: bool

    @classmethod
    def found(cls, read: Iterable[str], folders: Iterable[str]) -> Inputs:
        """Return the inputs of a finished compile.

        Args:
            read: the files in the compiler's list.
            folders: its include folders.
        """
        listed = [*map(_relative, read)]
        searched = sorted({_relative(each) for each in (*folders, *map(os.path.dirname, listed))})
        names, is_complete = set[str](), True
        for file in listed:
            text = _text(file)
            unlisted = ["".join(groups) for groups in re.findall(_UNLISTED, text)]
            names.update(map("".join, re.findall(_DIRECTIVE, text)), filter(None, unlisted))
            is_complete = is_complete and all(unlisted)
        literal = {*_places(searched, names)}
        for file in listed:
            if file not in literal:  # its name was computed, or is a flag
                names.update(_names(file, searched))
        files = digests({*listed, *_places(searched, names)})
        is_complete = is_complete and files.keys() >= {*listed}
        return cls(files, searched, sorted(names), is_complete)

    @classmethod
    def load(cls, file: Path) -> Inputs | None:
        """Return the inputs in a file of store(), or None if it has none."""
        try:
            return cls(**json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def store(self, file: Path) -> None:
        """Write the inputs to a file.

        Raises:
            OSError: the file cannot be written.
        """
        file_io.write_atomically(file, json.dumps(asdict(self)).encode())

    def paths(self) -> set[str]:
        """Return the paths of the files, and of the places without a file."""
        return {*self.files, *_places(self.folders, self.names)}

    def are_current(self) -> bool:
        """Return whether a compile would read the same bytes."""
        return self.is_complete and digests(self.paths()) == self.files


def prerequisites(rule: str) -> list[str]:
    """Return the prerequisites of a make rule, the format of compilers' lists."""
    words = re.findall(r"(?:\\.|[^\s\\])+", rule.partition(":")[2])
    return [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]


def digests(paths: Collection[str]) -> dict[str, str]:
    """Return the digest of each of these paths that is a file."""
    return {
        path: hashlib.sha256(Path(path).read_bytes()).hexdigest()
        for path in paths
        if os.path.isfile(path)  # noqa: PTH113 - many paths, none of which may exist
    }


def _relative(path: str) -> str:
    """Return a path relative to the working directory, if it is inside it."""
    normal, here = os.path.normpath(path), str(Path.cwd())
    return os.path.relpath(normal) if Path(normal).is_relative_to(here) else normal


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _places(folders: Sequence[str], names: Collection[str]) -> Iterator[str]:
    places = product(folders, names)
    return (os.path.normpath(os.path.join(*place)) for place in places)  # noqa: PTH118  str is faster


def _names(file: str, folders: Iterable[str]) -> Iterator[str]:
    """Yield the names by which a search of these folders can find a file."""
    path = Path(file)
    for folder in map(Path, folders):
        if path.is_relative_to(folder):
            yield path.relative_to(folder).as_posix()
