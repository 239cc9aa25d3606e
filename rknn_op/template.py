"""Where the template is, with opkit in it: beside this file when installed, else in the checkout.

Importing this module puts opkit on the path.
"""

from __future__ import annotations

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
    rooms = OPKIT / "runtimes"
    others = [room for room in rooms.iterdir() if room.is_dir() and room.name not in runtimes]
    return {
        str(path.relative_to(_PROJECT)): path.read_bytes()
        for path in sorted(_PROJECT.rglob("*"))
        if path.is_file()
        and path != _PROJECT / "op.yml"
        and not path.name.startswith("{%")
        and "__pycache__" not in path.parts
        and not any(path.is_relative_to(room) for room in others)
    }
