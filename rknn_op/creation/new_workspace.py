"""`rknn-op workspace init`: make a workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from opkit import shared_files
from opkit.errors import OpkitError
from opkit.workspace_members import FILE, above
from rknn_op import own_opkit, template
from rknn_op.all_or_nothing import apply, restored_on_error
from rknn_op.creation.completion import REQUIREMENTS, shared_pins
from rknn_op.creation.new_repository import new_folder
from rknn_op.creation.requirements import requirements_text
from rknn_op.creation.wheel import COPIED, wheel

_TEXTS = "workspace_files"
"""The folder of opkit with the texts of a workspace's files."""
_OWN = {
    ".gitattributes": "gitattributes",
    ".github/workflows/ci.yml": "ci.yml",
    ".gitignore": "gitignore",
    ".pre-commit-config.yaml": "pre-commit-config.yaml",
    "README.md": "README.md",
}
"""Path of a user's file -> its text in that folder; the user may have it before."""
_SAME = (".devcontainer/devcontainer.json", ".github/dependabot.yml")
"""The user's files that are those of a repository."""


def files() -> dict[str, bytes]:
    """Return path -> content of the files of a new workspace; rknn-op.toml is last."""
    own, data = wheel()
    yours = users_files()
    return {
        **{path: yours[path] for path in yours if path != FILE},
        **generated(""),
        REQUIREMENTS: requirements_text(own).encode(),
        own.name: data,
        FILE: yours[FILE],
    }


def users_files() -> dict[str, bytes]:
    """Return path -> content of the user's files at the root, without requirements.txt."""
    texts = template.OPKIT / _TEXTS
    return {
        **{path: (texts / name).read_bytes() for path, name in {**_OWN, FILE: FILE}.items()},
        **{path: template.files()[path] for path in _SAME},
    }


def users_files_of(data: bytes) -> dict[str, str]:
    """Return path -> text of the user's files at the root, from the wheel of any version.

    Args:
        data: the wheel; those of early versions lack the texts of workspaces.
    """
    entries = {
        **{f"opkit/{_TEXTS}/{name}": path for path, name in {**_OWN, FILE: FILE}.items()},
        **{f"{COPIED}/{path}": path for path in _SAME},
    }
    found = own_opkit.texts(data, entries)
    return {entries[name]: text for name, text in found.items()}


def generated(requirements: str) -> dict[str, bytes]:
    """Return path -> content of the files at the root that an update writes, besides the wheel.

    Args:
        requirements: the text of requirements.txt, for the lock.
    """
    texts = {**shared_files.shared_files(), **shared_pins(requirements)}
    return {path: text.encode() for path, text in texts.items()}


@dataclass(frozen=True)
class NewWorkspace:
    """The plan of a new workspace.

    Attributes:
        folder: its folder.
        files: path -> content of the files to write; rknn-op.toml is last.
        kept: the paths of the user's existing files, which stay.
    """

    folder: Path
    files: Mapping[str, bytes]
    kept: Sequence[str] = ()

    def owners(self) -> dict[str, list[str]]:
        """Return owner -> paths of the files, as of a repository."""
        own, _ = wheel()
        yours = {*users_files(), REQUIREMENTS}
        return {
            "yours": sorted({*self.files} & yours),
            "generated": sorted({*self.files} - yours - {own.name}),
            "opkit": [own.name],
        }


def plan(folder: Path) -> NewWorkspace:
    """Check the folder of a new workspace; return the plan.

    Args:
        folder: a new folder, or an existing one, whose own files stay.

    Raises:
        OpkitError: the folder is a workspace or an operator repository, is in one, or has a file
            that would be overwritten.
    """
    if (found := above(folder)) is not None:
        here = "a workspace" if found.samefile(folder) else f"in the workspace {found}"
        raise OpkitError(f"{folder} is {here}; add operators with `rknn-op create`")
    made = files()
    if not os.path.lexists(folder):
        return NewWorkspace(folder, made)
    if not folder.is_dir():
        raise OpkitError(f"{folder} is not a folder; pass another one")
    if (folder / "op.yml").is_file():
        raise OpkitError(
            f"{folder} is an operator repository; make the workspace elsewhere, and move it in "
            "with `rknn-op workspace add`"
        )
    kept = [path for path in made if path in {*_OWN, *_SAME} and (folder / path).is_file()]
    for path in [path for path in made if path not in {*kept, REQUIREMENTS}]:
        if os.path.lexists(folder / path):
            raise OpkitError(f"{folder / path} already exists; delete it, or pass another folder")
    requirements = folder / REQUIREMENTS
    if requirements.is_file():
        text = requirements_text(wheel()[0], requirements.read_text(encoding="utf-8"))
        made[REQUIREMENTS] = text.encode()
        made |= generated(text)
    new = {path: content for path, content in made.items() if path not in kept}
    return NewWorkspace(folder, new, kept)


def init(folder: Path) -> Sequence[str]:
    """Make a folder a workspace: whole, or not at all.

    Args:
        folder: as of plan.

    Returns:
        The paths of the user's existing files, which were not written.

    Raises:
        OpkitError: as plan does; or a file cannot be written.
    """
    new = plan(folder)
    with made(new):
        return new.kept


@contextmanager
def made(new: NewWorkspace) -> Iterator[None]:
    """Make a workspace; undo it if the block raises an exception.

    Raises:
        OpkitError: a file cannot be written.
    """
    if not os.path.lexists(new.folder):
        with new_folder(new.folder, new.files):
            yield
        return
    with restored_on_error(new.folder, new.files):
        apply(new.folder, new.files)
        yield
