"""`rknn-op update` of a workspace: the shared files, and those of all operators."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from opkit import repository, runtimes, workspace
from opkit.creation.completion import REQUIREMENTS, remove_other_wheels
from opkit.creation.requirements import requirements_text
from opkit.creation.wheel import wheel
from opkit.description.file import read_description
from opkit.errors import OpkitError
from opkit.members import members
from opkit.repository_files import refuse_links, write_bytes
from rknn_op.temporary import temporary_folder
from rknn_op.update import Update, refuse_uncommitted, update
from rknn_op.workspace import generated


def update_workspace(
    root: Path, dry_run: bool = False, allow_dirty: bool = False, merges: bool = False
) -> Iterator[Update]:
    """Bring a workspace and all its operators to this version.

    All operators are checked before a file is written. The wheel of this version is written first,
    and the old one is removed last, so that the next run completes an interrupted update.

    Args:
        root: the workspace.
        dry_run: change nothing.
        allow_dirty: update despite uncommitted changes.
        merges: merge the template's changes into the operators' files of the user.

    Yields:
        The update of the shared files, then that of each operator.

    Raises:
        OpkitError: an operator cannot be updated, the workspace has uncommitted changes, or a
            file to write is a link.
    """
    own, _ = wheel()
    found = [each for each in members(root) if not workspace.has_wheel(each)]
    _refuse_unusable(found)
    refuse_links(root, own.name, *generated(""), REQUIREMENTS)
    is_current = (root / own.name).is_file()
    if not (dry_run or allow_dirty or is_current):
        refuse_uncommitted(root, "the update")
    with _place(root, found, dry_run) as place:
        yield _shared(root, place)
        for member in found:
            inside = member.relative_to(root)
            done = update(place / inside, allow_dirty=True, merges=merges)
            yield replace(done, folder=member)
        remove_other_wheels(place)


def _refuse_unusable(found: list[Path]) -> None:
    """Refuse operators with an invalid op.yml or of a newer version."""
    for member in found:
        file = member / "op.yml"
        runtimes.parse(read_description(file), str(file))
        try:
            repository.read_manifest(member)
        except OpkitError as error:
            raise OpkitError(f"{member}: {error}") from None


@contextmanager
def _place(root: Path, found: list[Path], dry_run: bool) -> Iterator[Path]:
    """Yield the folder to update: the workspace, or in a dry run a copy."""
    if not dry_run:
        yield root
        return
    with temporary_folder() as scratch:
        copy = scratch / "workspace"
        copy.mkdir()
        for path in [*_shared_paths(root), workspace.FILE]:
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / path, copy / path)
        ignored = shutil.ignore_patterns("build", ".git", ".venv", ".cache")
        for member in found:
            target = copy / member.relative_to(root)
            shutil.copytree(member, target, symlinks=True, ignore=ignored)
        yield copy


def _shared_paths(root: Path) -> list[str]:
    """Return the paths of the existing shared files that an update may change."""
    wheels = sorted(path.name for path in root.glob("rknn_opkit-*.whl"))
    return [*wheels, *(path for path in [*generated(""), REQUIREMENTS] if (root / path).is_file())]


def _shared(root: Path, place: Path) -> Update:
    """Write the shared files, and return their changes."""
    own, data = wheel()
    wheels = {path.name for path in root.glob("rknn_opkit-*.whl")}
    write_bytes(place, own.name, data)
    requirements = place / REQUIREMENTS
    before = requirements.read_text(encoding="utf-8") if requirements.is_file() else ""
    text = requirements_text(own, before)
    changed: dict[str, tuple[str | None, str | None]] = {
        name: (None, "") if name == own.name else ("", None)
        for name in sorted({own.name} ^ wheels | (wheels - {own.name}))
    }
    for path, content in {**generated(text), REQUIREMENTS: text.encode()}.items():
        file = place / path
        old = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None
        if old != content.decode():
            changed[path] = (old, content.decode())
        write_bytes(place, path, content)
    version = next((name.split("-")[1].partition("+")[0] for name in sorted(wheels)), "no version")
    return Update(root, version, changed, {})
