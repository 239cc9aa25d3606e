"""build/opkit: opkit's own sources, by the same paths in every repository and environment.

What is compiled of them has no path of an environment in it, so that every repository of a user can
share it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from opkit.errors import OpkitError

FOLDER = "build/opkit"
INCLUDES = ("#build",)
"""Where its sources find `opkit/...`."""
OPKIT = Path(__file__).resolve().parents[1]


def provide(root: Path) -> None:
    """Make build/opkit a link to this opkit.

    Raises:
        OpkitError: it cannot be made.
    """
    link = root / FOLDER
    beside = link.with_name(".opkit.new")
    try:
        if link.is_symlink() and os.readlink(link) == str(OPKIT):  # noqa: PTH115  text
            return
        link.parent.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            beside.unlink()
        if link.is_dir() and not link.is_symlink():  # copied with links followed
            shutil.rmtree(link)
        beside.symlink_to(OPKIT)
        beside.replace(link)
    except OSError as error:
        raise OpkitError(f"{FOLDER}: cannot be made: {error.strerror}") from None
