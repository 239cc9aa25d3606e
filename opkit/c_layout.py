"""C text in lines of at most 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from opkit.text import c_comment, escape_comment

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
