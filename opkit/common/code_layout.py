"""C and Python text in lines of at most 100 columns."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Sequence
from typing import Any

from opkit.common.text import c_comment, escape_comment

LINE_LENGTH = 100
_INDENT = 4


def wrapped(opening: str, items: Sequence[str], closing: str) -> str:
    """Return a call, a declaration or a braced list: one line, or below it a line for each item.

    Args:
        opening: the text before the first item, with its indentation: `    call(`.
        items: the texts that commas separate.
        closing: the text after the last item: `);`.
    """
    line = f"{opening}{', '.join(items)}{closing}"
    if len(line) <= LINE_LENGTH:
        return line
    indent = " " * (len(opening) - len(opening.lstrip()) + _INDENT)
    return f"{opening.rstrip()}\n{indent}" + f",\n{indent}".join(items) + closing


def block_comment(text: str, indent: int = 0) -> str:
    """Return a comment of lines of its own that holds the text, paragraph by paragraph."""
    margin = " " * indent
    prefix = f"{margin} * "
    lines = [f"{margin}/*"]
    for paragraph in text.split("\n\n"):
        if len(lines) > 1:
            lines.append(prefix.rstrip())
        lines += textwrap.wrap(
            escape_comment(" ".join(paragraph.split())),
            width=LINE_LENGTH,
            initial_indent=prefix,
            subsequent_indent=prefix,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join([*lines, f"{margin} */"])


def comment(text: str, indent: int = 0) -> str:
    """Return a comment of a line of its own, or of several if it is too long for one."""
    line = f"{' ' * indent}{c_comment(text)}"
    return line if len(line) <= LINE_LENGTH else block_comment(text, indent)


def with_comment(code: str, text: str) -> str:
    """Return a line of code with a comment, beside it or, if that is too long, above it."""
    if not text:
        return code
    line = f"{code} {c_comment(text)}"
    if len(line) <= LINE_LENGTH:
        return line
    return f"{comment(text, len(code) - len(code.lstrip()))}\n{code}"


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
