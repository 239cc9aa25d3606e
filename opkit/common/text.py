"""Text templates with $placeholders, tables, and escaping for messages and C."""

from __future__ import annotations

import math
import re
import struct
import textwrap
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from string import Template

_OPKIT = Path(__file__).parents[1]


def render(template: str | Path, /, **values: str) -> str:
    """Return the text of a template, with every placeholder replaced.

    Args:
        template: its path; a relative one is below opkit.
        **values: name of each placeholder -> its text.
    """
    return _parsed(template).substitute(values)


@cache
def _parsed(template: str | Path) -> Template:
    return Template((_OPKIT / template).read_text(encoding="utf-8"))


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def wrapped(text: str, width: int = 80) -> str:
    """Wrap the lines of a text; the continuation of a line is indented by two more characters."""
    return "\n".join(_wrapped_line(line, width) for line in text.splitlines())


def _wrapped_line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def closest(name: str, known: Iterable[str], count: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return the known words most similar to a name, the closest first.

    Args:
        name: the name in the user's text.
        known: the words.
        count: the maximum count of words.
        cutoff: the minimum similarity, from 0 to 1.
    """
    import difflib  # only for mistakes

    return difflib.get_close_matches(shortened(name), [*known], count, cutoff)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint at the closest known word, or an empty text if none is similar."""
    return "".join(f"did you mean '{word}'?" for word in closest(name, known))


def shortened(text: str, max_length: int = 60) -> str:
    """Shorten a text for a message."""
    return (
        text
        if len(text) <= max_length
        else f"{text[: max_length - 10]}... ({len(text)} characters)"
    )


def printable(text: str) -> str:
    """Escape the control characters of a text, so that a terminal does not execute them."""
    return _UNUSUAL.sub(lambda found: _escaped(found[0]), text)


_UNUSUAL = re.compile(r"[^\n\t -~]")


def _escaped(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def c_string(text: str) -> str:
    """Return a C string literal of the text in UTF-8; other than printable ASCII, in octal."""
    escapes = {ord('"'): '\\"', ord("\\"): "\\\\", ord("?"): "\\?"}
    characters = (
        escapes.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}")
        for byte in text.encode()
    )
    return f'"{"".join(characters)}"'


def c_float(value: float, bits: int, suffix: str) -> str:
    """Return a floating-point literal in C; a value that underflows in 32 bits is written as 0.

    Args:
        value: a finite number in the range of its type.
        bits: the bits of the type, 32 or 64.
        suffix: the suffix of a literal of 32 bits.
    """
    if bits == 64:
        return repr(value)
    is_zero = struct.unpack("f", struct.pack("f", value))[0] == 0
    return f"{math.copysign(0, value) if is_zero else value!r}{suffix}"


def c_comment(text: str) -> str:
    """Return a C comment with the escaped text."""
    return f"/* {escape_comment(text)} */"


def escape_comment(text: str) -> str:
    """Escape the text for a C comment: comment marks and trigraphs."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
