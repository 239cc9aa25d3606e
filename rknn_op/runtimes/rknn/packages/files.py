"""Extract the sections of a package into files, and repack it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from opkit.errors import OpkitError
from opkit.runtimes.rknn.rknnop import Package, pack, section_names, sections

FILES: Mapping[str, str] = {
    "program binary": "program_binary.bin",
    "x64 library": "x64.so",
    "aarch64 library": "aarch64.so",
    "armhf library": "armhf.so",
    "op.yml": "op.yml",
    "Python file": "op.py",
}
"""Section -> the name of its file, never a name from the package."""


def extract(package: Package, folder: Path) -> list[Path]:
    """Write each section into a file, except an empty program binary.

    Args:
        package: the package.
        folder: a new or empty folder; not a link.

    Returns:
        The files, in the order of the package.

    Raises:
        OpkitError: the folder has files or cannot be written; then no new file is left.
    """
    assert FILES.keys() >= {*section_names(package.version)}
    contents = {FILES[name]: data for name, data in sections(package).items()}
    if not package.program_binary:
        del contents[FILES["program binary"]]
    with _errors(folder):
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
        # By a descriptor: all files get into this folder, even if its path changes meanwhile.
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with os.scandir(descriptor) as entries:
            if any(entries):
                raise OpkitError(f"{folder}: is not empty; pass a new folder")
        _write(contents, folder, descriptor)
    finally:
        os.close(descriptor)
    return [folder / name for name in contents]


def repack(package: Package, file: Path) -> None:
    """Write a package to a new file.

    Raises:
        OpkitError: the file exists or cannot be written.
    """
    with _errors(file.parent):
        descriptor = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _write({file.name: pack(package)}, file.parent, descriptor)
    finally:
        os.close(descriptor)


def _write(contents: Mapping[str, bytes], folder: Path, descriptor: int) -> None:
    """Write new files into an open folder, all or none."""
    written: list[str] = []
    try:
        for name, data in contents.items():
            with _errors(folder / name):
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                file = os.open(name, flags, 0o666, dir_fd=descriptor)
                written.append(name)
                with os.fdopen(file, "wb") as stream:
                    stream.write(data)
    except BaseException:
        for name in written:
            os.unlink(name, dir_fd=descriptor)
        raise


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise OpkitError(f"{path}: already exists; pass another, or delete it") from None
    except NotADirectoryError:
        raise OpkitError(f"{path}: is not a folder; links are not followed") from None
    except OSError as error:
        raise OpkitError(f"{path}: cannot be written: {error.strerror}") from None
