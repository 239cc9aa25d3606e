"""Operator repositories, and the opkit of each: its wheel, unpacked once into the user's cache.

Only bytes with the hash in the repository's manifest are unpacked; only `build`, `check` and
SConstruct execute them.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import sys
from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from opkit import repository, workspace_members
from opkit.build.machinery import UNPACKED
from opkit.build.user_cache import cache_folder
from opkit.common.errors import OpkitError
from opkit.manifest import Wheel
from opkit.repository_files import refuse_links


def require(folder: Path) -> None:
    """Require an operator repository.

    Raises:
        OpkitError: the folder is not an operator repository.
    """
    for name in ("op.yml", "SConstruct"):
        if not (folder / name).is_file():
            raise OpkitError(
                f"{folder} is not an operator repository: {name} not found; "
                "pass another folder, or make one with `rknn-op create`"
            )


def environment(folder: Path) -> dict[str, str]:
    """Return the environment with a repository's opkit on Python's path.

    SCons reads options from SCONSFLAGS: `-n` would check nothing, `-i` ignore failures.

    Raises:
        OpkitError: its opkit cannot be used.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "SCONSFLAGS"}
    return {**inherited, "PYTHONPATH": python_path(folder)}


# ---- The wheel -----------------------------------------------------------------------------------

RESTORE = "restore it (`git checkout`), or run `rknn-op update`"
"""The remedy for an unusable wheel."""
_SHARED = "opkit"
"""The folder in the user's cache."""
_MAX_BYTES = 1 << 20
"""The maximum size of a text."""


def construct(root: Path) -> None:
    """Declare the build of a repository; called by SConstruct where no opkit is installed.

    Raises:
        SystemExit: the repository's opkit cannot be used.
    """
    try:
        path = python_path(root)
    except OpkitError as error:
        raise SystemExit(f"error: {error}") from None
    os.environ["PYTHONPATH"] = path  # of the processes of the build and the check
    sys.path.insert(0, path.partition(os.pathsep)[0])
    for name in [name for name in sys.modules if name.partition(".")[0] == "opkit"]:
        del sys.modules[name]
    try:
        own = importlib.import_module("opkit.sconstruct")
    except ImportError as error:
        command = f"pip install -r {repository.requirements(root)}"
        raise SystemExit(f"error: {error}; run: {command}") from None
    own.construct(root)


def python_path(root: Path) -> str:
    """Return PYTHONPATH with a repository's own opkit first.

    Raises:
        OpkitError: as `unpacked` does.
    """
    before = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(unpacked(root).absolute()), *([before] if before else ())])


def unpacked(root: Path) -> Path:
    """Return the folder that holds a repository's own opkit, for Python's path.

    Raises:
        OpkitError: the repository has no wheel, or another one than in its manifest; a newer
            version has written it; or the wheel cannot be unpacked.
    """
    try:
        wheel = repository.own_wheel(root)
    except OpkitError as error:
        raise OpkitError(f"{root}: {error}") from None
    import zipfile  # only here and below: lint reads no entry of a wheel

    from opkit.common.scratch import whole_folder

    shared = cache_folder("", os.environ)
    if shared is None:
        refuse_links(root, UNPACKED)
    folder = (shared / _SHARED if shared else root / UNPACKED) / wheel.sha256
    try:
        data = content(root, wheel)
    except OpkitError as error:
        path = workspace_members.home(root) / wheel.name
        raise OpkitError(f"{path}: {error}; {RESTORE}") from None
    try:
        whole_folder(folder, lambda beside: _unpack(data, beside))
        with suppress(OSError):  # of another user
            os.utime(folder)  # cache_limit deletes folders without use
    except OSError as error:
        raise OpkitError(f"{folder}: cannot be made: {error.strerror}") from None
    except zipfile.BadZipFile as error:
        raise OpkitError(f"{root / wheel.name}: is not a wheel: {error}") from None
    return folder


def content(root: Path, wheel: Wheel, known: bytes = b"") -> bytes:
    """Return the bytes of a repository's wheel.

    Args:
        root: the repository.
        wheel: the entry of its manifest.
        known: the bytes with the hash of the entry, if the caller has them; else empty.

    Raises:
        OpkitError: the file cannot be read, or has another hash; the message omits the path.
    """
    try:
        path = workspace_members.home(root) / wheel.name
        stat = path.stat()
        data = _content(path, stat.st_ino, stat.st_mtime_ns, stat.st_size)
    except OSError as error:
        raise OpkitError(f"cannot be read: {error.strerror}") from None
    if data != known and _digest(data) != wheel.sha256:
        raise OpkitError("is not the file that the manifest names by its hash")
    return data


def texts(data: bytes, names: Collection[str]) -> dict[str, str]:
    """Return name -> text of entries of a wheel; nothing is executed.

    Args:
        data: the wheel's bytes, which may be invalid: then there are no texts.
        names: the entries.
    """
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {
                entry.filename: archive.read(entry).decode()
                for entry in archive.infolist()
                if entry.filename in names
                # As every opkit is packed; a compressed entry may expand to any size.
                and entry.compress_type == zipfile.ZIP_STORED
                and entry.file_size <= _MAX_BYTES
            }
    except (zipfile.BadZipFile, EOFError, RuntimeError, ValueError):
        return {}


@lru_cache(maxsize=1)
def _content(path: Path, *version: int) -> bytes:
    """Return the bytes of a file; read once for all members of a workspace.

    Args:
        path: the file.
        *version: the numbers that change with it.
    """
    return path.read_bytes()


@lru_cache(maxsize=1)
def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _unpack(data: bytes, folder: Path) -> None:
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
