"""Writes files of a repository: atomically, and never through symbolic links."""

from __future__ import annotations

import os
from pathlib import Path

from opkit.common import file_io
from opkit.common.errors import OpkitError


def write_text(root: Path, path: str | Path, text: str) -> None:
    """Write a text; see write_bytes."""
    write_bytes(root, path, text.encode())


def write_bytes(root: Path, path: str | Path, data: bytes) -> None:
    """Write a file atomically, unless its content is the same: then its time stamp stays.

    Args:
        root: the repository.
        path: the file, relative to it.
        data: the content.

    Raises:
        OpkitError: the file cannot be written, or its path has a link.
    """
    refuse_links(root, path)
    file = root / path
    try:
        if file.is_file() and file.read_bytes() == data:
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file_io.write_atomically(file, data)
    except OSError as error:
        raise OpkitError(f"{file}: cannot be written: {error.strerror}") from None


def refuse_links(root: Path, *paths: str | Path) -> None:
    """Refuse paths that are symbolic links, or lead out of the repository by one.

    This is the rule for every file that opkit writes into a repository, or deletes.

    Args:
        root: the repository.
        *paths: the files or folders, relative to it; they need not exist.

    Raises:
        OpkitError: the message names the link, its target, and the remedy.
    """
    # str paths take a tenth of the time of Path, and files share folders.
    seen: set[str] = set()
    for path in map(str, paths):
        parts = path.split("/")
        for folder in ("/".join(parts[:count]) for count in range(1, len(parts))):
            if folder in seen:
                continue
            seen.add(folder)
            link = root / folder
            if os.path.islink(link) and not link.resolve().is_relative_to(root.resolve()):  # noqa: PTH114  str, as above
                raise _refusal(link)
        if os.path.islink(f"{root}/{path}"):  # noqa: PTH114  str, as above
            raise _refusal(root / path)


def refuse_links_in(root: Path, folder: str, but: str) -> None:
    """Refuse a folder of a repository if it is a symbolic link, or contains one.

    Args:
        root: the repository.
        folder: the folder, relative to it; it need not exist.
        but: a link that is not refused, relative to the repository.

    Raises:
        OpkitError: as refuse_links does.
    """
    refuse_links(root, folder)
    for place, folders, files in os.walk(root / folder):
        for name in (*folders, *files):
            path = Path(place, name)
            if path.is_symlink() and path != root / but:
                raise _refusal(path)


def _refusal(link: Path) -> OpkitError:
    return OpkitError(
        f"{link}: is a link to {link.readlink()}; opkit writes and deletes no files through links: "
        "delete it, or replace it by a copy of its target"
    )
