"""The texts with $placeholders beside this file, and how C comments are made of user's text."""

from __future__ import annotations

from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent / "runtimes/rknn/templates"


def fill(template: str, **values: str) -> str:
    """Return the template of this name with every placeholder replaced."""
    return Template((_FOLDER / template).read_text(encoding="utf-8")).substitute(values)


def c_comment(text: str) -> str:
    """Return a C comment that holds the text, whatever is in it."""
    return f"/* {harmless_in_comment(text)} */"


def harmless_in_comment(text: str) -> str:
    """Return the text without what would begin or end a C comment, or a trigraph in it."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
