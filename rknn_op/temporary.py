"""Temporary folders that Ctrl-C does not leave behind."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a temporary folder; delete it at the end of the context.

    Raises:
        OSError: the folder cannot be made.
    """
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:  # Ctrl-C may have stopped the deletion; a second one is ignored
            shutil.rmtree(folder, ignore_errors=True)
