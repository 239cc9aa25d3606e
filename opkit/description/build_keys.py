"""The keys of a description that say what is compiled besides the generated files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

SOURCE_SUFFIXES = (".c", ".cc", ".cpp", ".cxx")

PATH = r"[A-Za-z0-9_./+-]+"
"""What a path looks like, as a regular expression."""
FLAG = (
    r"-(D[A-Za-z_]\w*(=[\w.+-]*)?|U[A-Za-z_]\w*|O[0-3s]|f(?!sanitize)[a-z][a-z0-9=-]*"
    r"|W[a-z][a-z0-9=+-]*)"
)
"""What a flag looks like."""


@dataclass(frozen=True)
class RepositoryPath:
    """A file or folder of the repository that the description names.

    Attributes:
        path: as seen from the repository.
        file: the description that names it, as messages call it.
        line: where in that file.
        key: which of its fields.
    """

    path: str
    file: str = field(compare=False)
    line: int = field(compare=False)
    key: str = field(compare=False)

    @property
    def where(self) -> str:
        """File, line and field that name it, for messages."""
        return f"{self.file}:{self.line}: {self.key}"


def path_problem(text: str) -> str | None:
    """Return why a text cannot be a path in the repository, or None."""
    if text.startswith(("/", "~")):
        return "is absolute; write it as seen from the repository, and have the file in it"
    if ".." in PurePosixPath(text).parts:
        return "may lead out of the repository; have the file in it, and write no '..'"
    if not re.fullmatch(PATH, text):
        return "has a character that makefiles cannot take (expected letters, digits and _ . / + -)"
    return None


def source_problem(text: str) -> str | None:
    """Return why a text cannot be the path of a C or C++ source, or None."""
    if not text.endswith(SOURCE_SUFFIXES):
        return f"is not a C or C++ source (expected {', '.join(SOURCE_SUFFIXES)})"
    return path_problem(text)


def flag_problem(text: str) -> str | None:
    """Return why a text cannot be a flag for the compilers, or None."""
    if text.startswith("-I"):
        return "is an include folder; write it under `include`"
    if text.startswith("-fsanitize"):
        return "is for `scons sanitize=address,undefined check`"
    if not re.fullmatch(FLAG, text):
        return (
            "invalid flag; expected -DNAME, -DNAME=VALUE, -UNAME, -O0 to -O3, -Os, -f... or -W..."
        )
    return None
