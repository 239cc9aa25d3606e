"""`rknn-op update` of a workspace: the shared files, and those of all operators."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from opkit import repository, runtimes, workspace_members
from opkit.common.errors import OpkitError
from opkit.common.scratch import temporary_folder
from opkit.description.file import read_description
from opkit.repository_files import refuse_links, write_bytes, write_text
from opkit.workspace_members import members
from rknn_op.creation.wheel import REQUIREMENTS, remove_other_wheels, requirements_text, wheel
from rknn_op.creation.workspaces import generated_root_files, users_files, users_files_of
from rknn_op.upkeep.merging import TemplateChange, template_changes
from rknn_op.upkeep.updating import Update, refuse_uncommitted, update


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
        merges: merge the template's changes into the user's files, where the user's own changes
            are in other lines.

    Yields:
        The update of the shared files, then that of each operator.

    Raises:
        OpkitError: an operator cannot be updated, the workspace has uncommitted changes, or a
            file to write is a link.
    """
    own, _ = wheel()
    found = [each for each in members(root) if not workspace_members.has_wheel(each)]
    for member in found:
        file = member / "op.yml"
        runtimes.parse(read_description(file), str(file))
        try:
            repository.read_manifest(member)
        except OpkitError as error:
            raise OpkitError(f"{member}: {error}") from None
    refuse_links(root, own.name, *generated_root_files(""), REQUIREMENTS)
    is_current = (root / own.name).is_file()
    if not (dry_run or allow_dirty or is_current):
        refuse_uncommitted(root, "the update")
    with _place(root, found, dry_run) as place:
        yield _shared(root, place, merges)
        for member in found:
            inside = member.relative_to(root)
            done = update(place / inside, allow_dirty=True, merges=merges)
            yield replace(done, folder=member)
        remove_other_wheels(place)


@contextmanager
def _place(root: Path, found: list[Path], dry_run: bool) -> Iterator[Path]:
    """Yield the folder to update: the workspace, or in a dry run a copy."""
    if not dry_run:
        yield root
        return
    with temporary_folder() as scratch:
        copy = scratch / "workspace"
        copy.mkdir()
        wheels = sorted(path.name for path in root.glob("rknn_opkit-*.whl"))
        written = [*generated_root_files(""), *users_files(), REQUIREMENTS]
        shared = [path for path in written if (root / path).is_file()]
        for path in [*wheels, *shared, workspace_members.FILE]:
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / path, copy / path)
        ignored = shutil.ignore_patterns("build", ".git", ".venv", ".cache")
        for member in found:
            target = copy / member.relative_to(root)
            shutil.copytree(member, target, symlinks=True, ignore=ignored)
        yield copy


def _shared(root: Path, place: Path, merges: bool) -> Update:
    """Write the shared files, and return their changes.

    Args:
        root: the workspace, for messages.
        place: the folder to update.
        merges: as of update_workspace.
    """
    own, data = wheel()
    wheels = {path.name for path in place.glob("rknn_opkit-*.whl")}
    now = {path: content.decode() for path, content in users_files().items()}
    yours = _texts(place, now)
    found, new, unknown = _template_changes(place, yours, now)
    left = [each for each in found if not merges or each.merged is None]
    text = requirements_text(own, _texts(place, [REQUIREMENTS]).get(REQUIREMENTS, ""))
    contents = {
        **{path: content.decode() for path, content in generated_root_files(text).items()},
        REQUIREMENTS: text,
        **{path: now[path] for path in new},
        **{each.path: each.merged for each in found if merges and each.merged is not None},
    }
    before = _texts(place, contents)
    refuse_links(place, *contents)
    write_bytes(place, own.name, data)
    for path, content in contents.items():
        write_text(place, path, content)
    changed: dict[str, tuple[str | None, str | None]] = {
        **dict.fromkeys(sorted(wheels - {own.name}), ("", None)),
        **({} if own.name in wheels else {own.name: (None, "")}),
        **{
            path: (before.get(path), content)
            for path, content in contents.items()
            if before.get(path) != content
        },
    }
    version = next((name.split("-")[1].partition("+")[0] for name in sorted(wheels)), "no version")
    advice = {each.path: each.diff() for each in left}
    conflicts = [each.path for each in left if each.merged is None]
    return Update(root, version, changed, advice, conflicts, unknown)


def _template_changes(
    place: Path, yours: Mapping[str, str], now: Mapping[str, str]
) -> tuple[list[TemplateChange], list[str], list[str]]:
    """Compare the user's files at the root with the old and the new template.

    Args:
        place: the workspace.
        yours: path -> text of the user's files.
        now: path -> text of the template's.

    Returns:
        The changes of the template; the paths of its new files; and the paths of files that differ
        from the template's, but whose old text the old wheel lacks.
    """
    own, _ = wheel()
    wheels = [path for path in place.glob("rknn_opkit-*.whl") if path.name != own.name]
    if not wheels and (place / own.name).is_file():
        return [], [], []  # of this version
    # Of several wheels, none is known to be that of the workspace's version.
    old = users_files_of(wheels[0].read_bytes()) if len(wheels) == 1 else {}
    absent = [path for path in now if path not in old]
    if workspace_members.FILE in old:  # as in every version that has these texts
        return (
            [*template_changes(old, yours, now)],
            [path for path in absent if path not in yours],
            [],
        )
    differing = [path for path in absent if path in yours and yours[path] != now[path]]
    return [*template_changes(old, yours, now)], [], differing


def _texts(folder: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return path -> text of existing files."""
    return {
        path: (folder / path).read_text(encoding="utf-8", errors="replace")
        for path in paths
        if (folder / path).is_file()
    }
