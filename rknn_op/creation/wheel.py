"""opkit in a repository: a reproducible wheel, and the requirements that pin it.

Entries of the wheel are sorted and stored, not deflated: deflated bytes depend on the version of
zlib, and git packs stored entries better. The version has a digest of the content, because pip and
uv do not replace a package by another of the same version. A local version (`+...`) cannot be on a
package index, so that no other package of that name is ever installed in its place.

hatch_build.py imports this module where no dependency of opkit is installed.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from opkit import manifest
from opkit.manifest import LOCK, Manifest, Wheel
from opkit.repository_files import write_bytes, write_text
from opkit.version import VERSION
from rknn_op import template

if TYPE_CHECKING:
    from opkit.description.spec import OpSpec

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
    # A later `rknn-op update` compares with the copied files: it knows the user's changes of them.
    copied = {f"{COPIED}/{path}": data for path, data in template.files().items()}
    files = dict(sorted({**dict(_files()), **copied}.items()))
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
    text = _requirements_file(".txt")
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


# ---- requirements.txt and requirements.lock ------------------------------------------------------

REQUIREMENTS = "requirements.txt"
_PIN = re.compile(rf"^{DISTRIBUTION}==\S+$", re.MULTILINE)
Extra = Literal["", "onnx", "onnxruntime"]
"""A package that the reference of some repositories imports, onnxruntime with onnx; empty: none."""
_LINES: dict[Extra, re.Pattern[str]] = {
    "onnxruntime": re.compile(r"^\s*onnxruntime\b(?!-)", re.M | re.I),
    "onnx": re.compile(r"^\s*onnx\b(?!-)", re.M | re.I),
}
_TEXT = """\
# The packages for `scons`; add the imports of your reference and tests as NAME==VERSION, with
# --hash=sha256:..., because CI installs nothing without a hash, here or in requirements.lock.
# rknn-opkit is the wheel beside this file: `rknn-op update` renews its line.
--find-links .
{pin}
"""
_LOCK = """\
# The same in exact versions, with hashes, so that a package built next year has the same bytes:
# `pip install --require-hashes -r requirements.lock`. `rknn-op update` writes this file again;
# `python3 -m opkit.ci.lock` accepts a change of yours.
--find-links .
{pin} \\
    --hash=sha256:{sha256}
{others}
"""


def requirements_text(wheel: Wheel, before: str = "", extra: Extra = "") -> str:
    """Return the text of requirements.txt.

    Args:
        wheel: the repository's wheel.
        before: the text of the existing file; its other lines stay.
        extra: the extra of a new repository.
    """
    if _PIN.search(before):
        return _PIN.sub(_pin(wheel), before)
    return _TEXT.format(pin=_pin(wheel)) + (extra_lines(extra) if extra else "") + before


def extra_lines(extra: Extra, before: str = "") -> str:
    """Return the lines of an extra for requirements.txt, without those of packages in its text."""
    lines = _requirements_file(f"-{extra}.txt").splitlines(keepends=True)
    known = [pattern for pattern in _LINES.values() if pattern.search(before)]
    return "".join(line for line in lines if not any(each.match(line) for each in known))


def extra_in(requirements: str) -> Extra:
    """Return the extra in the text of requirements.txt, which may be the user's own line."""
    return next((extra for extra, line in _LINES.items() if line.search(requirements)), "")


def lock_text(wheel: Wheel, extra: Extra = "") -> str:
    """Return the text of requirements.lock.

    Args:
        wheel: the repository's wheel.
        extra: see extra_in.
    """
    lock = _requirements_file(f"-{extra}.lock" if extra else ".lock")
    others = "\n".join(line for line in lock.splitlines() if not line.startswith("#"))
    return _LOCK.format(pin=_pin(wheel), sha256=wheel.sha256, others=others)


def _requirements_file(suffix: str) -> str:
    return (Path(__file__).parent / f"requirements{suffix}").read_text(encoding="utf-8")


def _pin(wheel: Wheel) -> str:
    return f"{DISTRIBUTION}=={wheel.version}"


# ---- A repository with an op.yml -----------------------------------------------------------------


def complete(root: Path, spec: OpSpec) -> None:
    """Write a repository's wheel and all files that depend on it; remove other wheels.

    Raises:
        OpkitError: as repository.write does, or a file cannot be written.
    """
    write_with_wheel(root, spec)
    remove_other_wheels(root)


def write_with_wheel(root: Path, spec: OpSpec) -> None:
    """Write a repository's wheel, and update all files that depend on it and on the operator.

    Raises:
        OpkitError: as repository.write does, or a file cannot be written.
    """
    from opkit import repository

    own, data = wheel()
    write_bytes(root, own.name, data)
    requirements = root / REQUIREMENTS
    before = requirements.read_text(encoding="utf-8") if requirements.is_file() else ""
    after = requirements_text(own, before)
    write_text(root, REQUIREMENTS, after)
    lock = lock_text(own, extra_in(after))
    write_text(root, LOCK, lock)
    repository.write(root, spec, own, manifest.digest(lock.encode()))


def shared_pins(requirements: str) -> dict[str, str]:
    """Return path -> text of the lock of a workspace, and of the manifest with its digest.

    Args:
        requirements: the text of the workspace's requirements.txt.
    """
    from opkit.shared_files import shared_files

    own, _ = wheel()
    lock = lock_text(own, extra_in(requirements))
    pinned = Manifest(VERSION, {}, tuple(shared_files()), own, manifest.digest(lock.encode()))
    return {LOCK: lock, manifest.PATH: manifest.to_text(pinned)}


def remove_other_wheels(root: Path) -> None:
    """Remove wheels of other versions."""
    own, _ = wheel()
    for other in root.glob("rknn_opkit-*.whl"):
        if other.name != own.name:
            other.unlink()
