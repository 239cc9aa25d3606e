"""Templates with $placeholders, and how C comments are made of user's text."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Protocol


class Render(Protocol):
    """Fills in a template."""

    def __call__(self, template: str, /, **values: str) -> str:
        """Return the text of the template of this name, with every placeholder replaced."""


def renderer(folder: Path) -> Render:
    """Return what fills in the templates of a folder."""

    def render(template: str, /, **values: str) -> str:
        return Template((folder / template).read_text(encoding="utf-8")).substitute(values)

    return render


def c_comment(text: str) -> str:
    """Return a C comment that holds the text, whatever is in it."""
    return f"/* {harmless_in_comment(text)} */"


def harmless_in_comment(text: str) -> str:
    """Return the text without what would begin or end a C comment, or a trigraph in it."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
