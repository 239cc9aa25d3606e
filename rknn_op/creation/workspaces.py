"""Workspaces: new ones, and the files of their members."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from opkit import manifest, shared_files, workspace_members
from opkit.common.errors import OpkitError
from opkit.files.readme import shared_rows
from opkit.manifest import Manifest
from opkit.repository_files import write_text
from opkit.workspace_members import FILE, SKIPPED, above
from rknn_op import template
from rknn_op.all_or_nothing import apply, new_folder, restored_on_error
from rknn_op.creation.wheel import (
    COPIED,
    REQUIREMENTS,
    Extra,
    extra_lines,
    requirements_text,
    shared_pins,
    wheel,
)

# ---- A new workspace -----------------------------------------------------------------------------

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


def _new_files() -> dict[str, bytes]:
    """Return path -> content of the files of a new workspace; rknn-op.toml is last."""
    own, data = wheel()
    yours = users_files()
    return {
        **{path: yours[path] for path in yours if path != FILE},
        **generated_root_files(""),
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
    from rknn_op import own_opkit  # only here: most callers read no wheel

    entries = {
        **{f"opkit/{_TEXTS}/{name}": path for path, name in {**_OWN, FILE: FILE}.items()},
        **{f"{COPIED}/{path}": path for path in _SAME},
    }
    found = own_opkit.texts(data, entries)
    return {entries[name]: text for name, text in found.items()}


def generated_root_files(requirements: str) -> dict[str, bytes]:
    """Return path -> content of the files at the root that an update writes, besides the wheel.

    Args:
        requirements: the text of requirements.txt, for the lock.
    """
    texts = {**shared_files.shared_files(), **shared_pins(requirements)}
    return {path: text.encode() for path, text in texts.items()}


class NewWorkspace(NamedTuple):
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


def plan_workspace(folder: Path) -> NewWorkspace:
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
    made = _new_files()
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
        made |= generated_root_files(text)
    new = {path: content for path, content in made.items() if path not in kept}
    return NewWorkspace(folder, new, kept)


@contextmanager
def made_workspace(new: NewWorkspace) -> Iterator[None]:
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


# ---- A member ------------------------------------------------------------------------------------

WITH_PATHS = ("README.md", "SConstruct")
"""The user's files with paths of shared files."""
_INSTALL = "python3 -m venv .venv && .venv/bin/pip install -r requirements.lock"


def workspace_for(folder: Path, planned: Path | None = None) -> Path | None:
    """Return the workspace of a new repository, or None for a standalone one.

    Args:
        folder: the new repository.
        planned: the workspace above it that is made first, if it does not exist.

    Raises:
        OpkitError: the workspace would not find the member, or its opkit is of another version.
    """
    path = Path(os.path.abspath(folder))  # noqa: PTH100  resolve() would follow links
    existing = workspace_members.above(path.parent)
    root = existing or (planned and Path(os.path.abspath(planned)))  # noqa: PTH100  as above
    if root is None:
        return None
    between = path.relative_to(root)
    if skipped := SKIPPED & {*between.parts}:
        raise OpkitError(
            f"{folder}: the workspace {root} looks for no operator in {skipped.pop()}; pass "
            "another folder"
        )
    for parent in [*between.parents][:-1]:
        if (root / parent / "op.yml").is_file():
            raise OpkitError(
                f"{folder}: is in an operator of the workspace, {root / parent}; pass another "
                f"folder, such as {root / path.name}"
            )
    if existing:
        require_current(existing)
    return root


def require_current(root: Path) -> None:
    """Require a workspace with the opkit of this version.

    Raises:
        OpkitError: it has another one.
    """
    own, _ = wheel()
    if not (root / own.name).is_file():
        raise OpkitError(
            f"{root}: {own.name} not found: the workspace is of another version; run "
            f"`rknn-op update {root}`"
        )


def member_files(files: Mapping[str, bytes], root: Path, folder: Path) -> dict[str, bytes]:
    """Return path -> content of the files of a repository that are in a member's folder.

    The manifest of a member has neither the shared files nor the lock.

    Args:
        files: those of the standalone repository.
        root: the workspace.
        folder: the member.
    """
    own = workspace_members.own_files(files)
    for path in {*WITH_PATHS} & {*own}:
        text = own[path].decode()
        for alone, member in passages(up(root, folder)):
            text = text.replace(alone, member)
        own[path] = text.encode()
    if manifest.PATH in own:
        whole = manifest.from_text(own[manifest.PATH].decode())
        once = workspace_members.own_files(whole.once)
        generated = tuple(path for path in whole.generated if not workspace_members.is_shared(path))
        text = manifest.to_text(whole._replace(once=once, generated=generated, lock=""))
        own[manifest.PATH] = text.encode()
    return own


def placed(folder: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """Return path -> text of the template's files in a folder: all of them, or those of a member.

    Args:
        folder: the repository, or the member of a workspace.
        texts: path -> text of files of a standalone repository.
    """
    root = workspace_members.of_member(folder)
    if root is None:
        return {**texts}
    files = {path: text.encode() for path, text in texts.items()}
    return {path: data.decode() for path, data in member_files(files, root, folder).items()}


def up(root: Path, folder: Path) -> str:
    """Return the path from a member to its workspace, such as `../`."""
    depth = len(Path(os.path.abspath(folder)).relative_to(root).parts)  # noqa: PTH100  keeps links
    return "../" * depth


def whole_manifest(member: Manifest, shared: Manifest) -> Manifest:
    """Return a member's manifest as that of a standalone repository."""
    generated = {*member.generated, *filter(workspace_members.is_shared, shared.generated)}
    once = {
        path: digest for path, digest in shared.once.items() if workspace_members.is_shared(path)
    }
    return member._replace(
        once={**once, **member.once}, generated=tuple(generated), lock=shared.lock
    )


# ---- README.md and SConstruct of a member --------------------------------------------------------


def passages(to_root: str) -> list[tuple[str, str]]:
    """Return passages of the user's files: of a standalone repository, and of a member.

    Args:
        to_root: the path to the workspace, such as `../`.
    """
    return [
        (f"    {_INSTALL}\n", f"    (cd {to_root[:-1]} && {_INSTALL})\n"),
        ("    .venv/bin/scons", f"    {to_root}.venv/bin/scons"),
        ("pip install -r requirements.txt", f"pip install -r {to_root}requirements.txt"),
        ("](docs/", f"]({to_root}docs/"),
        (
            shared_rows(),
            f"* `{to_root}README.md`: the workspace, with packages, opkit, CI and documents.\n",
        ),
    ]


# ---- Requirements --------------------------------------------------------------------------------


def require_package(root: Path, extra: Extra) -> None:
    """Add a package to a workspace's requirements, if it is missing.

    Raises:
        OpkitError: a file cannot be written.
    """
    file = root / REQUIREMENTS
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    lines = extra_lines(extra, text) if extra else ""
    if not lines:
        return
    text += lines
    for path, content in {REQUIREMENTS: text, **shared_pins(text)}.items():
        write_text(root, path, content)
