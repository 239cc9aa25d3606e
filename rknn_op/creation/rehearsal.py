"""The output of dry runs of `rknn-op create`: for people, and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rknn_op.creation import new_repository
from rknn_op.creation.new_repository import Plan
from rknn_op.creation.new_workspace import NewWorkspace


def text(planned: Plan | NewWorkspace) -> str:
    """Return the files of a planned repository or workspace by owner, at most 80 columns wide.

    Raises:
        OpkitError: it cannot be made.
    """
    if isinstance(planned, NewWorkspace):
        return _listing(f"{planned.folder}: a workspace", planned.owners())
    spec = planned.spec
    title = f"{planned.folder}: {spec.name}, for {', '.join(spec.runtimes)}"
    return _listing(title, new_repository.rehearse(planned))


def _listing(title: str, files: Mapping[str, Sequence[str]]) -> str:
    lines = [
        textwrap.fill(
            f"{owner}: {' '.join(paths)}",
            width=78,
            initial_indent="  ",
            subsequent_indent="      ",
            break_on_hyphens=False,
        )
        for owner, paths in files.items()
    ]
    return "".join(f"{line}\n" for line in [title, *lines])


def entry(planned: Plan | NewWorkspace) -> dict[str, Any]:
    """Return the properties of a planned repository, for JSON; a workspace has no operator.

    Raises:
        OpkitError: it cannot be made.
    """
    if isinstance(planned, NewWorkspace):
        return {
            "folder": str(planned.folder),
            "operator": None,
            "runtimes": [],
            "target": None,
            "files": planned.owners(),
            "warnings": [],
        }
    return {
        "folder": str(planned.folder),
        "operator": planned.spec.name,
        "runtimes": [*planned.spec.runtimes],
        "target": planned.spec.target_platform,
        "files": new_repository.rehearse(planned),
        "warnings": [str(each) for each in planned.warnings],
    }
