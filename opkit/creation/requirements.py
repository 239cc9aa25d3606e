"""requirements.txt and requirements.lock of a repository."""

from __future__ import annotations

import re
from pathlib import Path

from opkit.creation.wheel import DISTRIBUTION
from opkit.manifest import Wheel

_PIN = re.compile(rf"^{DISTRIBUTION}==\S+$", re.MULTILINE)
_TEXT = """\
# The packages for `scons`; add the imports of your reference and tests. rknn-opkit is the wheel
# beside this file: `rknn-op update` renews its line.
--find-links .
{pin}
"""
_LOCK = """\
# The same in exact versions, with hashes, so that a package built next year has the same bytes:
# `pip install --require-hashes -r requirements.lock`. `rknn-op update` writes this file again.
--find-links .
{pin} \\
    --hash=sha256:{sha256}
{others}
"""


def requirements_text(wheel: Wheel, before: str = "") -> str:
    """Return the text of requirements.txt.

    Args:
        wheel: the repository's wheel.
        before: the text of the existing file; its other lines stay.
    """
    if _PIN.search(before):
        return _PIN.sub(_pin(wheel), before)
    return _TEXT.format(pin=_pin(wheel)) + before


def lock_text(wheel: Wheel) -> str:
    """Return the text of requirements.lock."""
    lock = (Path(__file__).parent / "requirements.lock").read_text(encoding="utf-8")
    others = "\n".join(line for line in lock.splitlines() if not line.startswith("#"))
    return _LOCK.format(pin=_pin(wheel), sha256=wheel.sha256, others=others)


def _pin(wheel: Wheel) -> str:
    return f"{DISTRIBUTION}=={wheel.version}"
