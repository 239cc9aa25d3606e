"""Read the files of an untrusted folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from opkit.common import file_io
from opkit.common.errors import OpkitError
from opkit.common.text import printable, shortened

MAX_BYTES = 2**20
"""Limit of a source file; people write smaller ones."""


@dataclass(frozen=True)
class VendorFile:
    """A file of the folder, unchanged.

    Attributes:
        name: its path, relative to the folder.
        label: its path in messages.
        data: its content.
    """

    name: str
    label: str
    data: bytes

    @cached_property
    def text(self) -> str:
        """The text, in any encoding, with Unix line ends: line numbers stay."""
        text = self.data.decode("utf-8-sig", errors="replace")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def at(self, offset: int) -> str:
        """Return file:line of an offset in the text."""
        return f"{self.label}:{self.text.count(chr(10), 0, offset) + 1}"


class VendorFolder:
    """A folder to read single files of; links out of it are refused.

    Args:
        path: the folder.

    Raises:
        OpkitError: it is not a folder, or cannot be listed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.label = show(path)
        try:
            self.root = path.resolve(strict=True)
            self.names = sorted(os.listdir(path))  # noqa: PTH208  names, not paths
        except (OSError, RuntimeError, ValueError) as error:
            problem = getattr(error, "strerror", None) or error
            raise OpkitError(f"{self.label}: cannot be listed: {problem}") from None

    def find(self, name: str) -> str | None:
        """Return the name of a file as the folder spells it, which may differ in case.

        Raises:
            OpkitError: several files differ in case only.
        """
        found = [each for each in self.names if each.lower() == name.lower()]
        if name in found or not found:
            return name if found else None
        if len(found) > 1:
            raise OpkitError(
                f"{self.label}: {listed(found)} differ in case only; delete all but one of them"
            )
        return found[0]

    def read(self, name: str) -> VendorFile:
        """Return a file.

        Raises:
            OpkitError: it is not a file of this folder, is too large, or cannot be read.
        """
        path = self.path / name
        label = show(path)
        try:
            if not path.resolve(strict=True).is_relative_to(self.root):
                raise OpkitError(f"{label}: is a link out of {self.label}; put the file there")
            return VendorFile(name, label, file_io.read_bounded(path, "a source", MAX_BYTES))
        except file_io.FileError as error:
            raise OpkitError(f"{label}: {error.problem}") from None
        except (OSError, RuntimeError) as error:
            problem = getattr(error, "strerror", None) or error
            raise OpkitError(f"{label}: cannot be read: {problem}") from None

    def listing(self) -> str:
        """Return the names of its files, shortened."""
        return listed(self.names) or "nothing"


def show(path: Path | str) -> str:
    """Return a path for a message; bytes that are not UTF-8 are replaced."""
    return printable(os.fsencode(path).decode(errors="replace"))


def listed(names: Sequence[str]) -> str:
    """Return the first 6 names and the number of the others."""
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(shortened(show(name)) for name in names[:6]) + more
