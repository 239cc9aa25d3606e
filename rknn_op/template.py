"""The template with opkit: beside this package when installed, else in the checkout."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import rknn_op

ROOT = Path(rknn_op.ROOT)
EXAMPLES = ROOT / "operators"
LICENSES = ROOT / "licenses"
OPKIT = ROOT / "opkit"
PROJECT = "{{cookiecutter.op_name}}"
"""The folder of the template's files of a repository."""


@cache
def files() -> dict[str, bytes]:
    """Return path -> content of the files that the template copies without rendering them.

    It renders op.yml, and the user's license, whose name in the template is a condition.
    """
    # str paths are faster, which counts for a thousand repositories.
    root, found = f"{ROOT}/{PROJECT}", dict[str, bytes]()
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        place = folder.removeprefix(root).lstrip("/")
        for name in names:
            path = f"{place}/{name}" if place else name
            if path != "op.yml" and not name.startswith("{%"):
                with open(f"{root}/{path}", "rb") as file:  # noqa: PTH123  str, as above
                    found[path] = file.read()
    return found
