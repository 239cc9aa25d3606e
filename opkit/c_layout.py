"""C text in lines of at most 100 columns, broken where clang-format breaks them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from opkit.text import c_comment, escape_comment

LINE_LENGTH = 100
_INDENT = 4


def wrapped(opening: str, items: Sequence[str], closing: str, outer: str = "") -> str:
    """Return the lines of a call, a declaration or a braced list.

    What does not fit into one line goes on below the first item; where that takes more lines, or
    an item is too long, all of them begin a line further, indented once more than the opening.
    What is the argument of another call, or is assigned, moves to a line of its own if it fits
    there as a whole.

    Args:
        opening: all that is before the first item, with its indentation: `    call(`.
        items: what is separated by commas.
        closing: all that is after the last item: `);`.
        outer: what may stay in the line before, with the indentation: `    OPKIT_TRY(` or
            `    int x = `.
    """
    whole = outer + opening
    deeper = " " * (len(whole) - len(whole.lstrip()) + _INDENT)
    text = f"{opening}{', '.join(items)}{closing}"
    if len(outer + text) <= LINE_LENGTH:
        return outer + text
    if outer and len(deeper + text) <= LINE_LENGTH:
        return f"{outer.rstrip()}\n{deeper}{text}"
    parts = [*(f"{item}," for item in items[:-1]), items[-1] + closing]
    below = _packed(parts, len(whole))
    further = [whole.rstrip(), *_packed(parts, len(deeper))]
    too_long = len(whole) + max(map(len, below)) > LINE_LENGTH
    if len(deeper) < len(whole) and (too_long or len(further) < len(below)):
        return f"\n{deeper}".join(further)
    return whole + f"\n{' ' * len(whole)}".join(below)


def _packed(parts: Sequence[str], column: int) -> list[str]:
    """Return lines of as many parts as fit, each of which begins in this column."""
    lines = [parts[0]]
    for part in parts[1:]:
        if column + len(lines[-1]) + 1 + len(part) <= LINE_LENGTH:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


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
