"""The files of a repository that becomes a member of a workspace, or stands alone again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from opkit import manifest, workspace_members
from opkit.errors import OpkitError
from opkit.files.readme import shared_rows
from opkit.manifest import Manifest
from opkit.repository_files import write_text
from opkit.workspace_members import SKIPPED
from rknn_op.creation.completion import REQUIREMENTS, shared_pins
from rknn_op.creation.requirements import Extra, extra_in, extra_lines
from rknn_op.creation.wheel import wheel

WITH_PATHS = ("README.md", "SConstruct")
"""The user's files with paths of shared files."""
_INSTALL = "python3 -m venv .venv && .venv/bin/pip install -r requirements.lock"


def workspace_for(folder: Path, planned: Path | None = None) -> Path | None:
    """Return the workspace that a new repository becomes a member of; None: it stands alone.

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

    Args:
        files: those of the repository, if it stands alone.
        root: the workspace.
        folder: the member.
    """
    own = workspace_members.own_files(files)
    for path in {*WITH_PATHS} & {*own}:
        own[path] = member_text(own[path].decode(), up(root, folder)).encode()
    if manifest.PATH in own:
        own[manifest.PATH] = member_manifest(own[manifest.PATH].decode()).encode()
    return own


def placed(folder: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """Return path -> text of the template's files in a folder: all of them, or those of a member.

    Args:
        folder: the repository, or the member of a workspace.
        texts: path -> text of files of a repository that stands alone.
    """
    root = workspace_members.of_member(folder)
    if root is None:
        return {**texts}
    files = {path: text.encode() for path, text in texts.items()}
    return {path: data.decode() for path, data in member_files(files, root, folder).items()}


def up(root: Path, folder: Path) -> str:
    """Return the path from a member to its workspace, such as `../`."""
    depth = len(Path(os.path.abspath(folder)).relative_to(root).parts)  # noqa: PTH100  as above
    return "../" * depth


def member_manifest(text: str) -> str:
    """Return a repository's manifest without the shared files and the lock."""
    whole = manifest.from_text(text)
    once = workspace_members.own_files(whole.once)
    generated = tuple(path for path in whole.generated if not workspace_members.is_shared(path))
    return manifest.to_text(replace(whole, once=once, generated=generated, lock=""))


def whole_manifest(member: Manifest, shared: Manifest) -> Manifest:
    """Return a member's manifest with the shared files and the lock of one that stands alone."""
    generated = {*member.generated, *filter(workspace_members.is_shared, shared.generated)}
    once = {
        path: version for path, version in shared.once.items() if workspace_members.is_shared(path)
    }
    return replace(
        member, once={**once, **member.once}, generated=tuple(generated), lock=shared.lock
    )


# ---- README.md and SConstruct --------------------------------------------------------------------


def member_text(text: str, to_root: str) -> str:
    """Return the text of a user's file with the paths of a member; other text stays.

    Args:
        text: that of a repository that stands alone.
        to_root: the path to the workspace, such as `../`.
    """
    for alone, member in _passages(to_root):
        text = text.replace(alone, member)
    return text


def text_alone(text: str, to_root: str) -> str:
    """Return the text of a member's file, as it was before member_text."""
    for alone, member in reversed(_passages(to_root)):
        text = text.replace(member, alone)
    return text


def _passages(to_root: str) -> list[tuple[str, str]]:
    """Return passages of files: those of a repository that stands alone, and of a member."""
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
    if not extra or extra_in(text) == extra:
        return
    text += extra_lines(extra)
    for path, content in {REQUIREMENTS: text, **shared_pins(text)}.items():
        write_text(root, path, content)
