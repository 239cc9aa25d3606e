"""The keys of a description for the user's own sources, include folders and flags."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import NamedTuple

SOURCE_SUFFIXES = (".c", ".cc", ".cpp", ".cxx")

PATH = r"[A-Za-z0-9_./+-]+"
"""The regular expression of a path."""
MAX_PATH = 200
"""The maximum length of a path, which leaves room for the folders and suffixes of builds."""
FLAG = (
    r"-(D[A-Za-z_]\w*(=[\w.+-]*)?|U[A-Za-z_]\w*|O[0-3s]|f(?!sanitize)[a-z][a-z0-9=-]*"
    r"|W[a-z][a-z0-9=+-]*)"
)
"""The regular expression of a flag."""


class RepositoryPath(NamedTuple):
    """A file or folder of the repository, named in the description.

    Attributes:
        path: the path, relative to the repository.
        file: the name of the description, for messages.
        line: the line in the description, from 1.
        key: the field, such as `sources[0]`.
    """

    path: str
    file: str
    line: int
    key: str

    @property
    def where(self) -> str:
        """File, line and field in the description, for messages."""
        return f"{self.file}:{self.line}: {self.key}"


def path_problem(text: str) -> str | None:
    """Return the problem of a path in the repository, or None if it is valid."""
    if text.startswith(("/", "~")):
        return "is absolute; put the file into the repository, and write its path from there"
    parts = PurePosixPath(text).parts
    if ".." in parts:
        return "may lead out of the repository; put the file into the repository, and write no '..'"
    if ".git" in parts:
        return "is in a folder of git's own, which no commit has; move it to another folder"
    if parts[:1] == ("build",):
        return "is in build/, which `scons -c` deletes; move it to another folder"
    if any(part.startswith("-") for part in parts):
        return "has a name that begins with '-', which compilers read as an option; rename it"
    if len(text) > MAX_PATH:
        return f"is too long (expected {MAX_PATH} characters at most)"
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
