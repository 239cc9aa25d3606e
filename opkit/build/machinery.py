"""build/opkit: opkit's own sources, at the same paths in every repository and environment.

Their object files contain no path of an environment, so that all repositories of a user can share
them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from opkit.common.errors import OpkitError
from opkit.repository_files import refuse_links

FOLDER = "build/opkit"
UNPACKED = "build/.opkit"
"""The folder of `rknn-op` for the repository's opkit, where the user has no cache."""
INCLUDES = ("#build",)
"""The include path of opkit's sources, for `opkit/...`."""
OPKIT = Path(__file__).resolve().parents[1]


def provide(root: Path) -> None:
    """Make build/opkit a link to this opkit.

    Raises:
        OpkitError: the link cannot be made, or its folder is a link.
    """
    link = root / FOLDER
    refuse_links(root, link.parent.name)
    beside = link.with_name(".opkit.new")
    try:
        if link.is_symlink() and os.readlink(link) == str(OPKIT):  # noqa: PTH115  text
            return
        link.parent.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            beside.unlink()
        if link.is_dir() and not link.is_symlink():  # copied with links followed
            import shutil  # only here: `rknn-op lint` imports this module

            shutil.rmtree(link)
        beside.symlink_to(OPKIT)
        beside.replace(link)
    except OSError as error:
        raise OpkitError(f"{FOLDER}: cannot be made: {error.strerror}") from None
