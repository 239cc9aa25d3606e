"""Text templates with $placeholders, tables, and user's text in messages and in C."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template
from typing import Protocol


class Render(Protocol):
    """Renders a text template."""

    def __call__(self, template: str, /, **values: str) -> str:
        """Return the text of the template of this name, with every placeholder replaced."""


def renderer(folder: Path) -> Render:
    """Return the function that renders the templates of a folder."""

    def render(template: str, /, **values: str) -> str:
        return Template((folder / template).read_text(encoding="utf-8")).substitute(values)

    return render


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def closest(name: str, known: Iterable[str], count: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return the known words that are most like a name, the closest first.

    Args:
        name: what a user wrote.
        known: the words.
        count: how many are returned at most.
        cutoff: how much they have to be alike, from 0 to 1.
    """
    import difflib  # only for mistakes

    return difflib.get_close_matches(shortened(name), [*known], count, cutoff)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint at the closest of the known words; empty if none is close."""
    return "".join(f"did you mean '{word}'?" for word in closest(name, known))


def shortened(text: str, most: int = 60) -> str:
    """Return a text that fits into a message."""
    return text if len(text) <= most else f"{text[: most - 10]}... ({len(text)} characters)"


def printable(text: str) -> str:
    """Return a text in which a terminal finds no commands: control characters are shown."""
    return _UNUSUAL.sub(lambda found: _shown(found[0]), text)


_UNUSUAL = re.compile(r"[^\n\t -~]")


def _shown(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def c_string(text: str) -> str:
    """Return a C string literal of the text in UTF-8; what cannot be shown is written in octal."""
    escapes = {ord('"'): '\\"', ord("\\"): "\\\\", ord("?"): "\\?"}
    characters = (
        escapes.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}")
        for byte in text.encode()
    )
    return f'"{"".join(characters)}"'


def c_float(value: float, bits: int, suffix: str) -> str:
    """Return a floating-point literal in C; what a float is too small for, as the 0 it becomes.

    Args:
        value: a finite number in the range of its type.
        bits: those of the type: 32 or 64.
        suffix: of a literal of 32 bits.
    """
    if bits == 64:
        return repr(value)
    is_zero = struct.unpack("f", struct.pack("f", value))[0] == 0
    return f"{math.copysign(0, value) if is_zero else value!r}{suffix}"


def c_comment(text: str) -> str:
    """Return a C comment with the text, escaped."""
    return f"/* {escape_comment(text)} */"


def escape_comment(text: str) -> str:
    """Return the text without what would begin or end a C comment, or a trigraph in it."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
