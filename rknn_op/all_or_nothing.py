"""Changes of files that an error undoes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from opkit.errors import OpkitError
from opkit.repository_files import refuse_links, write_bytes


def apply(folder: Path, contents: Mapping[str, bytes | None]) -> None:
    """Write and delete files, in this order of them; restore all if one cannot be changed.

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
    """Write a file, or delete it and the folders above it that are empty then."""
    if content is not None:
        write_bytes(folder, path, content)
        return
    (folder / path).unlink(missing_ok=True)
    for parent in [*Path(path).parents][:-1]:
        with suppress(OSError):  # not empty
            (folder / parent).rmdir()


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
