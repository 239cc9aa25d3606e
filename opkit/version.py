"""The version of opkit and of the template."""

from __future__ import annotations

import re
from pathlib import Path

BUILD = (Path(__file__).parent / "VERSION").read_text(encoding="ascii").strip()
"""The version of the installed wheel, with a digest of its content; in a checkout, VERSION."""
VERSION = BUILD.partition("+")[0]


def is_version(text: str) -> bool:
    """Whether a text is a version: numbers separated by points."""
    return re.fullmatch(r"\d{1,9}(\.\d{1,9})*", text) is not None


def is_newer(version: str, than: str = VERSION) -> bool:
    """Whether a version is newer than another."""
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
