"""The license of a new repository: the user's choice; opkit writes its file only once."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from string import Template

from opkit.errors import OpkitError

NONE = "none"
"""The choice of no license: no statement on the use by others."""
_MAX_AUTHOR = 200  # characters


def license_text(texts: Path, choice: str, author: str, folder: str) -> str:
    """Return the text of LICENSE; empty for NONE.

    Args:
        texts: the folder with the licenses' texts; the files have SPDX identifiers as names.
        choice: one of these names, in any case, or NONE.
        author: the copyright holder; empty: "the authors of" the new repository.
        folder: the name of the new repository.

    Raises:
        OpkitError: the license is unknown, or the author is too long or unprintable.
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
