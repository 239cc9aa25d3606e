"""`rknn-op update`."""

from __future__ import annotations

from pathlib import Path

import click

from rknn_op import update
from rknn_op.verbs.common import repository


@click.command("update")
@repository
def command(path: Path) -> None:
    """Bring opkit/ and generated/ of a repository to this version.

    A runtime that op.yml names and the repository does not have yet comes with it. Your own files
    are left alone.
    """
    update.update(path)
