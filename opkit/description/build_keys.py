"""The keys of a description for the user's own sources, include folders and flags."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

SOURCE_SUFFIXES = (".c", ".cc", ".cpp", ".cxx")

PATH = r"[A-Za-z0-9_./+-]+"
"""The regular expression of a path."""
FLAG = (
    r"-(D[A-Za-z_]\w*(=[\w.+-]*)?|U[A-Za-z_]\w*|O[0-3s]|f(?!sanitize)[a-z][a-z0-9=-]*"
    r"|W[a-z][a-z0-9=+-]*)"
)
"""The regular expression of a flag."""


@dataclass(frozen=True)
class RepositoryPath:
    """A file or folder of the repository, named in the description.

    Attributes:
        path: the path, relative to the repository.
        file: the name of the description, for messages.
        line: the line in the description, from 1.
        key: the field, such as `sources[0]`.
    """

    path: str
    file: str = field(compare=False)
    line: int = field(compare=False)
    key: str = field(compare=False)

    @property
    def where(self) -> str:
        """File, line and field in the description, for messages."""
        return f"{self.file}:{self.line}: {self.key}"


def path_problem(text: str) -> str | None:
    """Return the problem of a path in the repository, or None if it is valid."""
    if text.startswith(("/", "~")):
        return "is absolute; put the file into the repository, and write its path from there"
    if ".." in PurePosixPath(text).parts:
        return "may lead out of the repository; put the file into the repository, and write no '..'"
    if not re.fullmatch(PATH, text):
        return "has a character that would break makefiles (expected letters, digits and _ . / + -)"
    return None


def source_problem(text: str) -> str | None:
    """Return the problem of the path of a C or C++ source, or None if it is valid."""
    if not text.endswith(SOURCE_SUFFIXES):
        return f"is not a C or C++ source (expected {', '.join(SOURCE_SUFFIXES)})"
    return path_problem(text)


def flag_problem(text: str) -> str | None:
    """Return the problem of a flag for the compilers, or None if it is valid."""
    if text.startswith("-I"):
        return "is an include folder; write it under `include`"
    if text.startswith("-fsanitize"):
        return "is for `scons sanitize=address,undefined check`"
    if not re.fullmatch(FLAG, text):
        return (
            "invalid flag; expected -DNAME, -DNAME=VALUE, -UNAME, -O0 to -O3, -Os, -f... or -W..."
        )
    return None
