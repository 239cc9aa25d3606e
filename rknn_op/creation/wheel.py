"""opkit as a reproducible wheel, which every repository contains.

Entries are sorted and stored, not deflated: deflated bytes depend on the version of zlib, and git
packs stored entries better. The version has a digest of the content, because pip and uv do not
replace a package by another of the same version. A local version (`+...`) cannot be on a package
index, so that no other package of that name is ever installed in its place.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from opkit.manifest import Wheel
from opkit.version import VERSION
from rknn_op import template

DISTRIBUTION = "rknn-opkit"
COPIED = "opkit/copied"
"""The folder of copied files in the wheel."""
STORED = "wheel"
"""The folder beside opkit in an installation of `rknn-op`, where hatch_build.py put the wheel."""
_DIGITS = 12
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_MODE = 0o100644 << 16


@cache
def wheel() -> tuple[Wheel, bytes]:
    """Return the wheel of this opkit: its entry for the manifest, and its bytes."""
    for stored in template.ROOT.glob(f"{STORED}/*.whl"):
        return _entry(stored.name, data := stored.read_bytes()), data
    files = dict(sorted({**dict(_files()), **_copied_files()}.items()))
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    version = f"{VERSION}+{digest.hexdigest()[:_DIGITS]}"
    name = DISTRIBUTION.replace("-", "_")
    information = f"{name}-{version}.dist-info"
    files["opkit/VERSION"] = f"{version}\n".encode()
    files[f"{information}/METADATA"] = _metadata(version).encode()
    files[f"{information}/WHEEL"] = _WHEEL
    files[f"{information}/licenses/LICENSE"] = files.pop("opkit/LICENSE")
    record = f"{information}/RECORD"
    files[record] = _record(files, record).encode()
    data = _archive(files)
    return _entry(f"{name}-{version}-py3-none-any.whl", data), data


def _entry(name: str, data: bytes) -> Wheel:
    return Wheel(name, hashlib.sha256(data).hexdigest())


def requirements() -> list[str]:
    """Return opkit's requirements: lines of a requirements file without comments."""
    text = (Path(__file__).parent / "requirements.txt").read_text(encoding="utf-8")
    return [stripped for line in text.splitlines() if (stripped := line.partition("#")[0].strip())]


def _files() -> Iterator[tuple[str, bytes]]:
    """Yield path and content of opkit's files, sorted by path; skip hidden files and backups."""
    # Paths as text: hundreds of Path objects take as long as reading the files.
    root = str(template.OPKIT)
    paths = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        paths += [f"{folder}/{name}" for name in names if name[0] != "." and name[-1] != "~"]
    for path in sorted(paths):
        with open(path, "rb") as file:  # noqa: PTH123  text, as above
            yield f"opkit{path.removeprefix(root)}", file.read()


def _copied_files() -> dict[str, bytes]:
    """Return path -> content of the files that a new repository copies from the template.

    A later `rknn-op update` compares with them, so that it knows the changes of the user.
    """
    return {f"{COPIED}/{path}": data for path, data in template.files().items()}


_WHEEL = b"""\
Wheel-Version: 1.0
Generator: rknn-op-template
Root-Is-Purelib: true
Tag: py3-none-any
"""


def _metadata(version: str) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {DISTRIBUTION}",
        f"Version: {version}",
        "Summary: Builds, checks and packs custom operators; a part of their repositories",
        "License-Expression: MIT",
        "License-File: LICENSE",
        "Requires-Python: >=3.10",
        *(f"Requires-Dist: {requirement}" for requirement in requirements()),
    ]
    return "\n".join(lines) + "\n"


def _record(files: Mapping[str, bytes], record: str) -> str:
    lines = []
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join(lines) + f"{record},,\n"


def _archive(files: Mapping[str, bytes]) -> bytes:
    import zipfile  # only here: an installation has the wheel

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as entries:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = _UNIX
            entry.external_attr = _MODE
            entries.writestr(entry, content)
    return archive.getvalue()
