"""Repositories of an older version, and what an update is to make of them."""

from __future__ import annotations

import json
from pathlib import Path

from opkit import manifest
from opkit.version import VERSION

OLD = "0.0.9"


def age(path: Path) -> None:
    """Make a repository of exp one of an older version: every kind of file has another text."""
    (path / "opkit/VERSION").write_text(f"{OLD}\n")
    (path / "opkit/gone.py").write_text("# no longer there\n")
    (path / "opkit/text.py").write_text(f"# older\n{(path / 'opkit/text.py').read_text()}")
    (path / "opkit/docs/cases.md").unlink()
    header = path / "generated/exp.h"
    header.write_text(f"/* Older. */\n{header.read_text()}")
    (path / "generated/gone.h").write_text("/* No longer generated. */\n")
    skeleton = path / "opkit/files/templates/README.md"
    skeleton.write_text(skeleton.read_text().replace("## What to write", "## What to do"))
    text = (path / manifest.PATH).read_text()
    content = json.loads(text) | {"version": OLD}
    content["generated"].append("generated/gone.h")
    (path / manifest.PATH).write_text(json.dumps(content))
    cruft = path / ".cruft.json"
    cruft.write_text(cruft.read_text().replace(f"v{VERSION}", f"v{OLD}"))


def add_work(path: Path) -> None:
    """Write into a repository of exp what a user writes."""
    for name in ("exp_compute.h", "README.md", "tests/test_exp.py"):
        (path / name).write_text(f"{(path / name).read_text()}mine\n")
    (path / "notes.txt").write_text("mine")
