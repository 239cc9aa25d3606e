"""Python text in lines of at most 100 columns."""

from __future__ import annotations

import json
import math
from typing import Any

LINE_LENGTH = 100


def literal(value: Any, before: str, indent: int = 4) -> str:
    """Return a Python literal; arguments as for bracketed."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, dict):
        keys = [f"{literal(key, '')}: " for key in value]
        pairs = zip(keys, value.values(), strict=True)
        items = [key + literal(item, key, indent + 4) for key, item in pairs]
        return bracketed(items, before, indent, "{}")
    if isinstance(value, list):
        return bracketed([literal(item, "", indent + 4) for item in value], before, indent)
    return repr(value)


def bracketed(items: list[str], before: str, indent: int = 4, brackets: str = "[]") -> str:
    """Return a list: the rest of a line, or below it a line for each item.

    Args:
        items: the text of each item.
        before: what stands before the list on its line.
        indent: the column at which that line begins.
        brackets: the opening one and the closing one.
    """
    line = brackets[0] + ", ".join(items) + brackets[1]
    if indent + len(before) + len(line) + len(",") <= LINE_LENGTH:
        return line
    lines = "".join(f"{' ' * (indent + 4)}{item},\n" for item in items)
    return f"{brackets[0]}\n{lines}{' ' * indent}{brackets[1]}"
