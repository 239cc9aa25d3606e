"""Changes of files, and new folders, that an error undoes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.common.scratch import scratch_folder
from opkit.repository_files import refuse_links, write_bytes


def apply(folder: Path, contents: Mapping[str, bytes | None]) -> None:
    """Write and delete files in order; restore all of them after an error.

    Args:
        folder: the folder of the files.
        contents: path -> content; None: no file.

    Raises:
        OpkitError: a file cannot be changed, or is a link.
    """
    with restored_on_error(folder, contents):
        for path, content in contents.items():
            _change(folder, path, content)


@contextmanager
def restored_on_error(folder: Path, paths: Collection[str]) -> Iterator[None]:
    """Restore files if the block raises an exception, such as KeyboardInterrupt.

    Args:
        folder: the folder of the files.
        paths: all files that the block changes, writes or deletes.

    Raises:
        OpkitError: a file cannot be changed, or is a link.
    """
    refuse_links(folder, *paths)
    before = {path: _content(folder / path) for path in paths}
    try:
        yield
    except BaseException as error:  # Ctrl-C, too
        for path, content in before.items():
            with suppress(OSError, OpkitError):
                _change(folder, path, content)
        if isinstance(error, OSError):
            raise OpkitError(f"{error.filename}: cannot be changed: {error.strerror}") from None
        raise


def _change(folder: Path, path: str, content: bytes | None) -> None:
    """Write a file, or delete it with the empty folders above it."""
    if content is not None:
        write_bytes(folder, path, content)
        return
    (folder / path).unlink(missing_ok=True)
    for parent in [*Path(path).parents][:-1]:
        with suppress(OSError):  # not empty
            (folder / parent).rmdir()


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


# ---- New folders ---------------------------------------------------------------------------------

_STAGING = ".rknn-op-new-"
"""The beginning of the name of a hidden folder with new repositories."""


def refuse_existing(folder: Path) -> None:
    """Refuse an existing path.

    Raises:
        OpkitError: it exists.
    """
    if os.path.lexists(folder):
        raise OpkitError(f"{folder} already exists; pass another folder, or delete it")


@contextmanager
def new_folder(folder: Path, files: Mapping[str, bytes]) -> Iterator[None]:
    """Make a folder atomically; remove it if the block raises an exception.

    Args:
        folder: the new folder.
        files: path -> content of its files.

    Raises:
        OpkitError: it cannot be made, or its path exists now.
    """
    with staging(absolute(folder).parent, folder) as scratch:
        stage(scratch / folder.name, folder, files)
        with moved({scratch / folder.name: folder}):
            yield


@contextmanager
def staging(parent: Path, called: Path) -> Iterator[Path]:
    """Make a hidden folder for new folders, beside their paths; delete it at the end.

    Deletes those of killed runs, too. If the block raises an exception, the parent is deleted if
    it was made for it.

    Args:
        parent: the folder of the new folders.
        called: the path for messages.

    Raises:
        OpkitError: it cannot be made.
    """
    new = [path for path in (parent, *parent.parents) if not path.exists()]
    try:
        with ExitStack() as stack:
            try:
                scratch = stack.enter_context(scratch_folder(parent, _STAGING))
            except OSError as error:
                raise OpkitError(f"{called}: cannot be made: {error.strerror or error}") from None
            yield scratch
    except BaseException:  # Ctrl-C, too
        for path in new:
            with suppress(OSError):  # not empty, or never made
                path.rmdir()
        raise


def stage(staged: Path, folder: Path, *contents: Mapping[str, bytes]) -> None:
    """Write the files of a new folder into a staged one.

    Args:
        staged: the folder to make.
        folder: its path in the end, for messages.
        contents: mappings of path -> content of its files.

    Raises:
        OpkitError: it cannot be made.
    """
    try:
        staged.mkdir()
        for files in contents:
            write_new_files(str(staged), files)
    except OSError as error:
        raise OpkitError(f"{folder}: cannot be made: {error.strerror or error}") from None


@contextmanager
def moved(places: Mapping[Path, Path]) -> Iterator[None]:
    """Rename staged folders to their paths; rename them back if the block raises an exception.

    Args:
        places: staged folder -> path.

    Raises:
        OpkitError: a path exists now.
    """
    try:
        for staged, folder in places.items():
            refuse_existing(folder)
            try:
                staged.rename(folder)
            except OSError as error:
                raise OpkitError(f"{folder}: cannot be made: {error.strerror}") from None
        yield
    except BaseException:  # Ctrl-C, too, even between a renaming and the next line
        for staged, folder in places.items():
            if not staged.exists():
                with suppress(OSError):
                    folder.rename(staged)
        raise


def write_new_files(root: str, files: Mapping[str, bytes]) -> None:
    """Write new files.

    Args:
        root: the folder to write into.
        files: path -> content.

    Raises:
        OSError: a file cannot be written, or exists.
    """
    # For thousands of repositories: str paths take a third of the time of Path.
    folders = {os.path.dirname(path) for path in files}  # noqa: PTH120  str, as above
    for folder in sorted(folders - {""}):
        os.makedirs(f"{root}/{folder}", exist_ok=True)  # noqa: PTH103  str, as above
    for path, content in files.items():
        with open(f"{root}/{path}", "xb") as file:  # noqa: PTH123  str, as above
            file.write(content)


def absolute(path: Path) -> Path:
    """Return the absolute path; links stay."""
    return Path(os.path.abspath(path))  # noqa: PTH100  resolve() follows links
