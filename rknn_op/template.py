"""The template with opkit: beside this package when installed, else in the checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import rknn_op
from opkit.creation.wheel import copied_files

ROOT = Path(rknn_op.ROOT)
EXAMPLES = ROOT / "operators"
LICENSES = ROOT / "licenses"
OPKIT = ROOT / "opkit"


@cache
def files() -> dict[str, bytes]:
    """Return path -> content of the files that the template copies without rendering them."""
    return copied_files(ROOT)
