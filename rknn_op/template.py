"""Where the template is, with opkit in it: beside this file when installed, else in the checkout.

Importing this module puts opkit on the path.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

_INSTALLED = Path(__file__).parent / "template"
ROOT = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
LICENSES = ROOT / "licenses"
_PROJECT = ROOT / "{{cookiecutter.op_name}}"
OPKIT = _PROJECT / "opkit"

URL = "https://github.com/org/rknn-op-template"
"""Where the template's history is; each release has the tag `v` and its number."""

sys.path.insert(0, str(_PROJECT))


@cache
def files(runtimes: tuple[str, ...]) -> dict[str, bytes]:
    """Return path -> content of what the template copies for runtimes: all but what it renders.

    That is op.yml, and the user's license, whose name in the template is a condition.
    """
    # Paths as text, because hundreds of Path take as long as all the reading does.
    root, found = str(_PROJECT), dict[str, bytes]()
    for folder, folders, names in os.walk(root):
        place = folder.removeprefix(root).lstrip("/")
        of_rooms = place == "opkit/runtimes"
        folders[:] = [
            name for name in folders if name != "__pycache__" and (not of_rooms or name in runtimes)
        ]
        for name in names:
            path = f"{place}/{name}" if place else name
            if path != "op.yml" and not name.startswith("{%"):
                with open(f"{root}/{path}", "rb") as file:  # noqa: PTH123  text, as above
                    found[path] = file.read()
    return found
