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
    content = json.loads((path / manifest.PATH).read_text())
    wheel = path / content["wheel"]["name"]
    version = f"{number}+0123456789ab"
    data = _older_bytes(wheel.read_bytes(), version)
    wheel.unlink()
    name = f"rknn_opkit-{version}-py3-none-any.whl"
    (path / name).write_bytes(data)
    content["wheel"] = {"name": name, "sha256": hashlib.sha256(data).hexdigest()}
    (path / manifest.PATH).write_text(json.dumps(content))
    return version


def _older_bytes(wheel: bytes, version: str) -> bytes:
    """Return the bytes of a wheel with another version, and another skeleton of README.md."""
    data = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(wheel)) as source, zipfile.ZipFile(data, "w") as target:
        for entry in source.infolist():
            text = source.read(entry)
            if entry.filename == "opkit/files/templates/README.md":
                text = text.replace(b"## Files\n", b"## What to do\n")
            if entry.filename == "opkit/VERSION":
                text = f"{version}\n".encode()
            target.writestr(entry, text)
    return data.getvalue()


COPIED = [*template.files()]
"""The paths of the files that the template copies."""


def age_copied_file(path: Path, name: str, change: Callable[[str], str] | None) -> None:
    """Change the text of a copied file in a repository's wheel; None: the wheel lacks it."""
    content = json.loads((path / manifest.PATH).read_text())
    wheel = path / content["wheel"]["name"]
    data = io.BytesIO()
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(data, "w") as target:
        for entry in source.infolist():
            text = source.read(entry).decode()
            if entry.filename != f"opkit/copied/{name}":
                target.writestr(entry, text)
            elif change is not None:
                target.writestr(entry, change(text))
    wheel.write_bytes(data.getvalue())
    content["wheel"]["sha256"] = hashlib.sha256(data.getvalue()).hexdigest()
    (path / manifest.PATH).write_text(json.dumps(content))


def add_work(path: Path) -> None:
    """Add a user's work to a repository of exp."""
    for name in ("exp_compute.h", "README.md", "tests/test_exp.py"):
        (path / name).write_text(f"{(path / name).read_text()}mine\n")
    (path / "notes.txt").write_text("mine")
