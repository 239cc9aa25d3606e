"""Temporary folders that are deleted later if their process is killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from opkit.common import file_io

_PREFIX = ".scratch-"


@contextmanager
def scratch_folder(parent: Path, prefix: str = _PREFIX) -> Iterator[Path]:
    """Make a temporary folder in a parent folder; delete it at the end of the context.

    The parent is made if it does not exist. A process locks its own folders; the folders that dead
    processes left are deleted too.

    Args:
        parent: the parent folder.
        prefix: the beginning of the folder's name, and of no other folder in the parent.

    Raises:
        OSError: the folder cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    for left in parent.glob(f"{prefix}*"):
        # Its owner may be deleting it, or the file system has no locks.
        with suppress(OSError), file_io.opened_folder(left) as descriptor:
            if os.fstat(descriptor).st_uid == os.geteuid() and file_io.try_lock(descriptor):
                shutil.rmtree(left, ignore_errors=True)
    with ExitStack() as own:
        folder = None
        while folder is None:
            folder = _locked_folder(parent.absolute(), prefix, own)
        yield folder


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a temporary folder, as scratch_folder does, where the system has temporary files.

    Raises:
        OSError: the folder cannot be made.
    """
    with scratch_folder(Path(tempfile.gettempdir()), "rknn-op-") as folder:
        yield folder


def _locked_folder(parent: Path, prefix: str, own: ExitStack) -> Path | None:
    """Make and lock a folder; None: another process deleted it, as it was not locked yet."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    own.callback(_delete, folder)
    try:
        descriptor = own.enter_context(file_io.opened_folder(folder))
    except FileNotFoundError:
        return None
    _lock(descriptor)
    return folder if file_io.is_at(descriptor, folder) else None


def _delete(folder: Path) -> None:
    try:
        shutil.rmtree(folder, ignore_errors=True)
    finally:  # Ctrl-C may have stopped the deletion
        shutil.rmtree(folder, ignore_errors=True)


def whole_folder(path: Path, fill: Callable[[Path], object]) -> Path:
    """Return a folder; if it does not exist, fill a temporary one and rename it: never incomplete.

    Args:
        path: the folder. Several processes may make it at the same time.
        fill: writes the content into an empty folder.

    Raises:
        OSError: the folder cannot be made.
    """
    if not path.is_dir():
        with scratch_folder(path.parent) as aside:
            made = aside / path.name
            made.mkdir()
            fill(made)
            try:
                made.rename(path)
            except OSError:
                if not path.is_dir():  # else another process was faster
                    raise
    return path


def _lock(descriptor: int) -> None:
    with suppress(OSError):  # a file system without locks
        file_io.lock(descriptor)
