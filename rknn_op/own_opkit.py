"""The opkit of a repository: its wheel, unpacked once into the user's cache.

Only bytes with the hash that the repository's manifest names are unpacked, and ever executed.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from pathlib import Path

from opkit import repository
from opkit.build.user_cache import cache_folder
from opkit.errors import OpkitError
from opkit.manifest import Wheel
from opkit.scratch import whole_folder

_SHARED = "opkit"
"""The folder in the user's cache."""


def unpacked(root: Path) -> Path:
    """Return the folder that holds a repository's own opkit, for Python's path.

    Raises:
        OpkitError: the repository has no wheel, or not the one that its manifest names; or a newer
            version has written it; or the wheel cannot be unpacked.
    """
    try:
        wheel = repository.own_wheel(root)
    except OpkitError as error:
        raise OpkitError(f"{root}: {error}") from None
    shared = cache_folder("", os.environ)
    parent = (shared / _SHARED) if shared else (root / "build" / _SHARED)
    folder = parent / wheel.sha256
    try:
        data = _content(root, wheel)
        whole_folder(folder, lambda beside: _unpack(data, beside))
    except OSError as error:
        raise OpkitError(f"{folder}: cannot be made: {error.strerror}") from None
    except zipfile.BadZipFile as error:
        raise OpkitError(f"{root / wheel.name}: is not a wheel: {error}") from None
    return folder


def _content(root: Path, wheel: Wheel) -> bytes:
    path = root / wheel.name
    restore = f"restore it (`git checkout '{wheel.name}'`), or run `rknn-op update`"
    if not path.is_file():
        raise OpkitError(f"{path}: not found; {restore}")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != wheel.sha256:
        raise OpkitError(f"{path}: is not the file that the manifest names by its hash; {restore}")
    return data


def _unpack(data: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
