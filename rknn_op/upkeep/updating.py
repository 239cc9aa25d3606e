"""`rknn-op update`: replace a repository's wheel and its generated files by this version's.

Of the old version, only texts are read from the repository's wheel. They are data, which this
version's code renders: no code of the repository is executed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from opkit import manifest, repository, runtimes, workspace_members
from opkit.common.errors import OpkitError
from opkit.common.scratch import temporary_folder
from opkit.description.file import read_description
from opkit.description.spec import OpSpec
from opkit.files.skeletons import once_only_files
from opkit.manifest import LOCK
from opkit.repository_files import refuse_links, write_bytes, write_text
from opkit.version import VERSION
from rknn_op import commits, own_opkit, template
from rknn_op.creation import new_repository
from rknn_op.creation.wheel import (
    COPIED,
    REQUIREMENTS,
    remove_other_wheels,
    wheel,
    write_with_wheel,
)
from rknn_op.creation.workspaces import placed, require_current
from rknn_op.own_opkit import require
from rknn_op.template import origin
from rknn_op.upkeep.merging import TemplateChange, template_changes, unified_diff

_LEFT_ALONE = (".git", ".venv", "build", ".cache")
"""Folders of a repository that an update does not change, and a dry run does not copy."""


@dataclass(frozen=True)
class Update:
    """The changes of an update in a repository.

    Attributes:
        folder: the repository.
        version: the previous version of the template.
        changed: path -> text before and after, of each changed file; None: no file.
        advice: path -> diff of the template's text for a file of the user; the update does not
            change that file.
        conflicts: the paths among them that the user has changed in the same lines.
        unknown: the paths of files of the user that differ from the template's, but were not
            compared with its old text: the old wheel does not have it. They do not change.
    """

    folder: Path
    version: str
    changed: Mapping[str, tuple[str | None, str | None]]
    advice: Mapping[str, str]
    conflicts: Sequence[str] = ()
    unknown: Sequence[str] = ()

    def diff(self) -> str:
        """Return the changes as a unified diff."""
        return "".join(
            unified_diff(path, before or "", after or "")
            for path, (before, after) in self.changed.items()
        )


def update(
    folder: Path, dry_run: bool = False, allow_dirty: bool = False, merges: bool = False
) -> Update:
    """Replace a repository's wheel, and bring its files in line with op.yml.

    The user's files stay as they are, unless the template's changes are to be merged into them;
    missing ones that op.yml requires now, and new ones of the template, are written. After an
    interruption at any moment, the next run completes the update.

    Args:
        folder: the repository.
        dry_run: change nothing.
        allow_dirty: update despite uncommitted changes.
        merges: merge the template's changes into the user's files, where the user's own changes
            are in other lines.

    Raises:
        OpkitError: the folder is not an operator repository, op.yml is invalid, a newer version
            has written the repository, it has uncommitted changes, or a file to write is a
            link.
    """
    require(folder)
    root = workspace_members.of_member(folder)
    if root:
        require_current(root)
    op_yml = folder / "op.yml"
    description = read_description(op_yml)
    spec = runtimes.parse(description, str(op_yml))
    own, _ = wheel()
    written = repository.read_manifest(folder)
    refuse_links(
        folder,
        *(own.name, REQUIREMENTS, LOCK, new_repository.CRUFT, manifest.PATH),
        *written.generated,
    )
    if not (dry_run or allow_dirty or _is_interrupted(folder)):
        refuse_uncommitted(folder, "the update")
    before = _texts(folder)
    # None if the wheel does not have these texts, or is missing or invalid.
    names = {f"{COPIED}/{path}": path for path in template.files()}
    found = _wheel_texts(folder, names)
    copied = {names[name]: text for name, text in found.items()} if found else None
    old = _Old(
        placed(folder, _old_skeletons(folder, description)),
        None if copied is None else placed(folder, copied),
        own != written.wheel,
        written.once,
    )
    if dry_run:
        with temporary_folder() as scratch:
            copy = scratch / "repository"
            if root:
                (scratch / workspace_members.FILE).touch()
                copy = scratch / Path(os.path.abspath(folder)).relative_to(root)  # noqa: PTH100  no links

            def ignored(place: str, names: list[str]) -> list[str]:
                # Only at the top: deeper ones are the user's, such as src/build.
                return [name for name in names if name in _LEFT_ALONE and Path(place) == folder]

            shutil.copytree(folder, copy, symlinks=True, ignore=ignored)
            left = _replace(copy, spec, old, merges)
            after = _texts(copy)
    else:
        left = _replace(folder, spec, old, merges)
        after = _texts(folder)
    changed = {
        path: (before.get(path), after.get(path))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    }
    advice = {each.path: each.diff() for each in left}
    conflicts = [each.path for each in left if each.merged is None]
    return Update(folder, written.version, changed, advice, conflicts)


@dataclass(frozen=True)
class _Old:
    """The texts of the repository's version of the template.

    Attributes:
        skeletons: path -> text; only if they differ from those of this version.
        copied: path -> text of the files that the template copies; None: unknown.
        is_other: whether the repository is of another version.
        digests: path -> digest of the text that the template wrote once.
    """

    skeletons: Mapping[str, str]
    copied: Mapping[str, str] | None
    is_other: bool
    digests: Mapping[str, str]


def _copied(folder: Path) -> dict[str, str]:
    """Return path -> text of the files that the template copies into a folder."""
    return placed(folder, {name: data.decode() for name, data in template.files().items()})


def _template_changes(folder: Path, old: _Old, spec: OpSpec) -> Iterator[TemplateChange]:
    """Yield the changes of the template in the user's files."""
    texts, copied = _texts(folder), _copied(folder)
    now = placed(folder, once_only_files(spec, runtimes.selected(spec))) | copied
    unedited = {
        path: texts[path]
        for path, digest in old.digests.items()
        if old.is_other and path in texts and manifest.digest(texts[path].encode()) == digest
    }
    known = {**(old.copied or {}), **old.skeletons, **unedited}
    yield from template_changes(known, texts, now)
    if old.copied is None and old.is_other:
        for path, theirs in copied.items():
            if (mine := texts.get(path, "")) != theirs:
                yield TemplateChange(path, mine, theirs, None)


def _replace(folder: Path, spec: OpSpec, old: _Old, merges: bool) -> list[TemplateChange]:
    """Bring all files to this version; return the template's changes that are not merged.

    The new wheel, the mark of an interrupted update, is written first; old files are removed last.
    Files of the user come before generated ones, which are those that the user's files name.
    """
    own, data = wheel()
    # workspace_update writes the shared files.
    is_member = workspace_members.of_member(folder) is not None
    if not is_member:
        write_bytes(folder, own.name, data)
    for path, text in _copied(folder).items():
        if old.copied is not None and path not in old.copied and not (folder / path).exists():
            write_text(folder, path, text)
    found = [*_template_changes(folder, old, spec)]
    left = [each for each in found if not merges or each.merged is None]
    for each in found:
        if each not in left and each.merged is not None:
            write_text(folder, each.path, each.merged)
    if is_member:
        repository.write(folder, spec, own)
    else:
        write_with_wheel(folder, spec)
    now = repository.read_manifest(folder)
    taken = {
        each.path: manifest.digest(each.theirs.encode())
        for each in found
        if each.path in now.once and each not in left
    }
    write_text(folder, manifest.PATH, manifest.to_text(now._replace(once={**now.once, **taken})))
    _record(folder, spec)
    remove_other_wheels(folder)
    return left


def _is_interrupted(folder: Path) -> bool:
    """Return whether an update to this version has begun but not ended."""
    own, _ = wheel()
    if not any(folder.glob(f"*{own.name}*")):  # the whole file, or its partial copy
        return False
    others = [path for path in folder.glob("rknn_opkit-*.whl") if path.name != own.name]
    is_recorded = repository.read_manifest(folder).wheel == own
    return bool(others) or not is_recorded


def _record(folder: Path, spec: OpSpec) -> None:
    """Update cruft's record of the repository's origin, if it has one."""
    try:
        state = json.loads((folder / new_repository.CRUFT).read_text(encoding="utf-8"))
        answers = state["context"]["cookiecutter"]
        known = origin()
        if known is not None:
            state["template"] = answers["_template"] = known.url
        state["commit"] = known.commit if known else f"v{VERSION}"
        answers["config"] = read_description(folder / "op.yml")
        answers["runtimes"] = ", ".join(spec.runtimes)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return
    write_text(folder, new_repository.CRUFT, new_repository.cruft_text(state))


def refuse_uncommitted(folder: Path, change: str) -> None:
    """Refuse uncommitted changes, which would mix with those of a command.

    Args:
        folder: the repository.
        change: the command's change, for the message.

    Raises:
        OpkitError: git reports some.
    """
    paths = commits.uncommitted(folder)
    if paths:
        names = ", ".join(paths[:3]) + (", ..." if len(paths) > 3 else "")
        raise OpkitError(
            f"{folder}: has changes that are not committed ({names}); commit them, so that "
            f"{change} can be reviewed and reverted, or pass --allow-dirty"
        )


def _texts(folder: Path) -> dict[str, str]:
    """Return path -> text of the existing files that an update may change."""
    written = repository.read_manifest(folder)
    wheels = {
        path.name: f"sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}\n"
        for path in folder.glob("rknn_opkit-*.whl")
    }
    names = {
        *(*written.once, *written.generated, *template.files()),
        *(manifest.PATH, new_repository.CRUFT, REQUIREMENTS, LOCK, "op.yml"),
    }
    return wheels | {
        name: (folder / name).read_text(encoding="utf-8", errors="replace")
        for name in sorted(names)
        if (folder / name).is_file()
    }


# ---- Texts of the old version -------------------------------------------------------------------


def _old_skeletons(root: Path, description: str) -> dict[str, str]:
    """Return path -> text of the skeletons with the templates of a repository's wheel.

    Changes in the code around the templates are not in these texts. Empty if the wheel is missing
    or invalid, if all its templates are this version's, if they do not fit this version's code, or
    without space for a temporary folder.

    Args:
        root: the repository.
        description: the text of its op.yml.
    """
    with zipfile.ZipFile(io.BytesIO(wheel()[1])) as archive:
        names = [name for name in archive.namelist() if "/templates/" in name]
        now = {name: archive.read(name).decode() for name in names}
        found = _wheel_texts(root, now)
        changed = {name: text for name, text in found.items() if text != now[name]}
        if not changed:
            return {}
        # The texts are only advice: a full disk does not stop the update here.
        with suppress(OSError), temporary_folder() as folder:
            archive.extractall(folder)
            for name, text in changed.items():
                (folder / name).write_text(text, encoding="utf-8", newline="")
            done = subprocess.run(
                [sys.executable, "-I", "-B", "-c", _PRINT_SKELETONS, folder],
                cwd=folder,
                input=description,
                check=False,
                capture_output=True,
                encoding="utf-8",
            )
            return dict(json.loads(done.stdout)) if done.returncode == 0 else {}
    return {}


def _wheel_texts(root: Path, names: Collection[str]) -> Mapping[str, str]:
    """Return name -> text of entries of a repository's wheel; empty if it cannot be read."""
    try:
        return own_opkit.texts(own_opkit.content(root, repository.own_wheel(root)), names)
    except OpkitError:
        return {}


_PRINT_SKELETONS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from opkit import runtimes
from opkit.files.skeletons import once_only_files
spec = runtimes.parse(sys.stdin.buffer.read().decode(), "op.yml")
print(json.dumps(once_only_files(spec, runtimes.selected(spec))))
"""
