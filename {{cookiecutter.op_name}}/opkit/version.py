"""The version of the template that opkit is part of."""

from __future__ import annotations

from pathlib import Path

VERSION = (Path(__file__).parent / "VERSION").read_text(encoding="ascii").strip()


def is_newer(version: str, than: str = VERSION) -> bool:
    """Whether a version, three numbers with points, came after another."""
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))
