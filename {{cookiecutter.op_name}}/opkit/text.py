"""Text templates with $placeholders, and C comments of user's text."""

from __future__ import annotations

from collections.abc import Sequence
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


def c_string(text: str) -> str:
    """Return a C string literal of the text in UTF-8; what cannot be shown is written in octal."""
    escapes = {ord('"'): '\\"', ord("\\"): "\\\\", ord("?"): "\\?"}
    characters = (
        escapes.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}")
        for byte in text.encode()
    )
    return f'"{"".join(characters)}"'


def c_comment(text: str) -> str:
    """Return a C comment with the text, escaped."""
    return f"/* {escape_comment(text)} */"


def escape_comment(text: str) -> str:
    """Return the text without what would begin or end a C comment, or a trigraph in it."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
