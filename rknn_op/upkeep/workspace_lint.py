"""The problems of the files at the root of a workspace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from opkit import repository, workspace_members
from opkit.complaint import Complaint
from opkit.shared_files import shared_files
from opkit.workspace_members import members
from rknn_op.creation.wheel import wheel

_UPDATE = "`rknn-op update` of the workspace brings it to this version"


def complaints(root: Path) -> Iterator[Complaint]:
    """Yield the problems of a workspace's own files; those of its operators are lint's.

    Raises:
        OpkitError: rknn-op.toml is invalid.
    """
    own, _ = wheel()
    if not (root / own.name).is_file():
        yield Complaint(str(root / own.name), "not found", hint=_UPDATE)
        return
    for path, text in shared_files().items():
        file = root / path
        if not file.is_file():
            yield Complaint(str(file), "not found", hint=_UPDATE)
        elif file.read_bytes() != text.encode():
            yield Complaint(str(file), "is not the file of this version", hint=_UPDATE)
    for each in repository.changed_lock(root):
        yield replace(each, file=str(root / each.file))
    for member in members(root):
        if workspace_members.has_wheel(member):
            problem = "has a wheel of its own, so it is not a member of the workspace"
            hint = f"run `rknn-op workspace add {member}`, or move it elsewhere"
            yield Complaint(str(member), problem, hint=hint, severity="warning")
