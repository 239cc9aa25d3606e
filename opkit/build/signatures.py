"""SCons' signatures in `build/.sconsign`: what everything was built of.

SCons' own module for that file ends in a traceback where the disk is full.
"""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress
from pathlib import Path

from opkit import atomic_file

PATH = Path("build/.sconsign")


class Signatures(dict[str, bytes]):
    """Folder -> the signatures in it; see SCons.SConsign.

    Args:
        path: the file. One that cannot be read is as none: everything is built again.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        with suppress(Exception):  # what unpickling a damaged file raises is not defined
            self.update(pickle.loads(path.read_bytes()))

    def sync(self) -> None:
        """Write the file, which is complete at every moment, or end SCons with a message."""
        try:
            atomic_file.write(self._path, pickle.dumps(dict(self)))
        except OSError as error:
            print(f"error: {self._path}: cannot be written: {error.strerror}", file=sys.stderr)
            sys.exit(2)


def open(path: str, mode: str) -> Signatures:
    """Return the signatures in a file, as SCons asks its database modules."""
    return Signatures(Path(path))
