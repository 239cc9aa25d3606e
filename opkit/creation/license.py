"""The license of a new repository: the user's choice, and the user's file from then on."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from string import Template

from opkit.errors import OpkitError

NONE = "none"
"""The choice of those who do not say how others may use the operator: no license."""
_MAX_AUTHOR = 200  # characters


def license_text(texts: Path, choice: str, author: str, folder: str) -> str:
    """Return the text of LICENSE; empty if there is none.

    Args:
        texts: the folder with the texts: files with the names that SPDX gives to licenses.
        choice: one of these names, in any case, or NONE.
        author: whose the operator is; empty: "the authors of" the new repository.
        folder: the name of the new repository.

    Raises:
        OpkitError: the license is unknown, or the author cannot be written in a line.
    """
    names = {path.name.lower(): path for path in sorted(texts.iterdir())}
    if choice.lower() not in {NONE, *names}:
        allowed = ", ".join([NONE, *(path.name for path in names.values())])
        raise OpkitError(f"license: invalid {choice[:40]!r} (expected {allowed})")
    if not author.isprintable() or len(author) > _MAX_AUTHOR:
        raise OpkitError(
            f"author: invalid {author[:40]!r} (expected up to {_MAX_AUTHOR} printable characters)"
        )
    if choice.lower() == NONE:
        return ""
    template = Template(names[choice.lower()].read_text(encoding="utf-8"))
    author = author.strip() or f"the authors of {folder}"
    return template.substitute(year=date.today().year, author=author)
