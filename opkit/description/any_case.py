"""JSON Schemas of case-insensitive words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def words(names: Iterable[str]) -> dict[str, Any]:
    """Return the schema of one word of a list, in any case."""
    names = list(names)
    pattern = "|".join("".join(map(_either_case, name)) for name in names)
    return {"anyOf": [{"enum": names}, {"type": "string", "pattern": f"^(?:{pattern})$"}]}


def _either_case(character: str) -> str:
    if character.isalpha():
        return f"[{character.upper()}{character.lower()}]"
    # ECMA-262 has no escapes of other characters, such as `-`.
    return f"\\{character}" if character in r"^$\.*+?()[]{}|/" else character
