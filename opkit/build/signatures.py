"""SCons' signatures in `build/.sconsign`: the inputs of each built file.

SCons' own module for this file fails with a traceback if the disk is full.
"""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from opkit import atomic_file

PATH = Path("build/.sconsign")


class Signatures(dict[str, bytes]):
    """Folder -> the signatures in it; see SCons.SConsign.

    Args:
        path: the file. If it cannot be read, everything is built again.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        with suppress(Exception):  # unpickling a damaged file raises any exception
            self.update(pickle.loads(path.read_bytes()))

    def sync(self) -> None:
        """Write the file atomically, or end SCons with a message."""
        try:
            atomic_file.write(self._path, pickle.dumps(dict(self)))
        except OSError as error:
            print(f"error: {self._path}: cannot be written: {error.strerror}", file=sys.stderr)
            sys.exit(2)


@dataclass(frozen=True)
class Database:
    """SCons' database module for the file.

    Attributes:
        kept: whether the file stays while SCons runs. Otherwise a killed SCons leaves none: its
            signatures would be older than the built files.
    """

    kept: bool

    def open(self, path: str, mode: str) -> Signatures:
        """Return the signatures in a file."""
        signatures = Signatures(Path(path))
        if not self.kept:
            Path(path).unlink(missing_ok=True)
        return signatures
