"""Make repositories of an older version, and the expected result of an update."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

from opkit import manifest
from opkit.version import VERSION
from rknn_op import template

OLD = "0.1.9"


def age(path: Path) -> None:
    """Turn a repository of exp into one of an older version, with each kind of file changed."""
    text = (path / manifest.PATH).read_text()
    content = json.loads(text) | {"version": OLD}
    content["generated"].append("generated/gone.h")
    (path / manifest.PATH).write_text(json.dumps(content))
    version = age_wheel(path)
    (path / "docs/cases.md").unlink()
    header = path / "generated/exp.h"
    header.write_text(f"/* Older. */\n{header.read_text()}")
    (path / "generated/gone.h").write_text("/* No longer generated. */\n")
    for name in ("requirements.txt", "requirements.lock"):
        lines = (path / name).read_text().splitlines(keepends=True)
        pinned = [f"rknn-opkit=={version}\n" if "rknn-opkit==" in line else line for line in lines]
        (path / name).write_text("".join(pinned))
    cruft = path / ".cruft.json"
    cruft.write_text(cruft.read_text().replace(f"v{VERSION}", f"v{OLD}"))


def age_wheel(path: Path, number: str = OLD) -> str:
    """Replace a repository's wheel by an older one, and return the older version.

    Args:
        path: the repository.
        number: the version without its build.
    """
    version = f"{number}+0123456789ab"

    def older(name: str, data: bytes) -> bytes:
        if name == "opkit/files/templates/README.md":
            return data.replace(b"## Files\n", b"## What to do\n")
        return f"{version}\n".encode() if name == "opkit/VERSION" else data

    change_wheel(path, older, version)
    return version


def change_wheel(
    root: Path,
    change: Callable[[str, bytes], bytes | None],
    version: str = "",
    member: str = "",
) -> None:
    """Change the entries of the wheel in a folder, and its hash in the manifest.

    Args:
        root: the repository, or a workspace.
        change: (name of an entry, its content) -> its new content; None: no entry.
        version: the wheel's new version; empty: the same.
        member: the operator of the workspace whose manifest is to name the wheel.
    """
    path = root / member / manifest.PATH
    content = json.loads(path.read_text())
    before = root / content["wheel"]["name"]
    data = io.BytesIO()
    with zipfile.ZipFile(before) as source, zipfile.ZipFile(data, "w") as target:
        for entry in source.infolist():
            if (changed := change(entry.filename, source.read(entry))) is not None:
                target.writestr(entry, changed)
    before.unlink()
    name = f"rknn_opkit-{version}-py3-none-any.whl" if version else before.name
    (root / name).write_bytes(data.getvalue())
    digest = hashlib.sha256(data.getvalue()).hexdigest()
    path.write_text(json.dumps(content | {"wheel": {"name": name, "sha256": digest}}))


COPIED = [*template.files()]
"""The paths of the files that the template copies."""


def age_copied_file(path: Path, name: str, change: Callable[[str], str] | None) -> None:
    """Change the text of a copied file in a repository's wheel; None: the wheel lacks it."""

    def changed(entry: str, data: bytes) -> bytes | None:
        if entry != f"opkit/copied/{name}":
            return data
        return None if change is None else change(data.decode()).encode()

    change_wheel(path, changed)


def add_work(path: Path) -> None:
    """Add a user's work to a repository of exp."""
    for name in ("exp_compute.h", "README.md", "tests/test_exp.py"):
        (path / name).write_text(f"{(path / name).read_text()}mine\n")
    (path / "notes.txt").write_text("mine")
