"""`rknn-op update`: a repository gets this version of opkit, with the runtimes of its op.yml."""

from __future__ import annotations

import shutil
from pathlib import Path

from opkit import repository, runtimes
from opkit.errors import OpkitError
from rknn_op import template
from rknn_op.repositories import require


def update(folder: Path) -> None:
    """Replace a repository's opkit, and bring its files in line with op.yml.

    The user's files are left alone; those that op.yml newly requires are written. After an
    interruption at any moment, the next run completes it.

    Args:
        folder: the repository.

    Raises:
        OpkitError: the folder is not an operator repository, op.yml cannot be used, a newer version
            has written the repository, or opkit/ cannot be replaced.
    """
    require(folder)
    op_yml = folder / "op.yml"
    spec = runtimes.parse(repository.read_description(op_yml), str(op_yml))
    repository.read_manifest(folder)
    others = {runtimes.FOLDER / name for name in runtimes.available() if name not in spec.runtimes}

    def ignored(directory: str, names: list[str]) -> list[str]:
        return [n for n in names if n == "__pycache__" or Path(directory, n) in others]

    opkit, new, old = (folder / name for name in ("opkit", "opkit.new", "opkit.old"))
    try:
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)
        shutil.copytree(template.OPKIT, new, ignore=ignored)
        if opkit.exists():
            opkit.rename(old)
        new.rename(opkit)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise OpkitError(f"{opkit}: cannot be replaced: {error}") from None
    repository.update(folder)
