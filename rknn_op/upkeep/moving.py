"""`rknn-op workspace add` and `eject`: a repository joins a workspace, or stands alone again."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opkit import manifest, repository, runtimes, workspace_members
from opkit.common.errors import OpkitError
from opkit.description.file import read_description
from opkit.description.spec import OpSpec
from opkit.files.generation import generated_files
from opkit.files.skeletons import once_only_files
from opkit.manifest import LOCK
from rknn_op import template
from rknn_op.all_or_nothing import apply
from rknn_op.creation import workspaces
from rknn_op.creation.choices import DEFAULT_EXTRAS, left_out
from rknn_op.creation.new_repository import CRUFT, cruft_of
from rknn_op.creation.wheel import (
    REQUIREMENTS,
    extra_in,
    lock_text,
    requirements_text,
    shared_pins,
    wheel,
)
from rknn_op.creation.workspaces import WITH_PATHS
from rknn_op.own_opkit import require

_BUILT = {"build", ".git", ".venv", ".cache", ".out", "__pycache__", ".pytest_cache"}
"""Folders without the user's files."""


@dataclass(frozen=True)
class Moved:
    """A repository that has joined a workspace, or left it.

    Attributes:
        workspace: the workspace.
        written: the files that are new or changed, relative to the repository.
        deleted: the files that are deleted.
        kept: the user's own versions of shared files, which stay.
        packages: lines that requirements.txt of the workspace has got.
    """

    workspace: Path
    written: Sequence[str]
    deleted: Sequence[str] = ()
    kept: Sequence[str] = ()
    packages: Sequence[str] = ()


def add(folder: Path) -> Moved:
    """Make a repository below a workspace a member of it, atomically.

    Shared files that are those of the template are deleted; the user's own versions stay. The
    wheel is deleted last: until then, the repository stands alone, and the next run completes it.

    Raises:
        OpkitError: the folder is not a repository of this version below a workspace of this
            version, or is a member already; or a file is a link, or cannot be written.
    """
    require(folder)
    if root := workspace_members.of_member(folder):
        raise OpkitError(f"{folder} is an operator of the workspace {root} already")
    root = workspaces.workspace_for(folder)
    if root is None:
        raise OpkitError(
            f"{folder} is not in a workspace; move it into one, or make one of a folder above with "
            "`rknn-op workspace init`"
        )
    own, _ = wheel()
    if repository.read_manifest(folder).wheel != own:
        raise OpkitError(f"{folder}: is of another version; run `rknn-op update {folder}`")
    spec = _spec(folder)
    shared = {path: data for path, data in _shared(folder, spec, "").items() if path != own.name}
    here = {path: (folder / path).read_bytes() for path in shared if (folder / path).is_file()}
    dispensable = {*_generated(folder, spec), LOCK, CRUFT, REQUIREMENTS}
    deleted = [path for path in here if path in dispensable or here[path] == shared[path]]
    if (folder / CRUFT).is_file() and CRUFT not in deleted:
        deleted.append(CRUFT)
    packages: list[str] = []
    if (folder / REQUIREMENTS).is_file():
        before = (root / REQUIREMENTS).read_text(encoding="utf-8")
        known = {*before.splitlines(), *requirements_text(own).splitlines(), ""}
        lines = (folder / REQUIREMENTS).read_text(encoding="utf-8").splitlines()
        packages = [line for line in lines if line not in known]
    if packages:
        text = before + "".join(f"{line}\n" for line in packages)
        texts = {REQUIREMENTS: text, **shared_pins(text)}
        apply(root, {path: content.encode() for path, content in texts.items()})
    changed = _changed(folder, workspaces.member_files(_own(folder), root, folder))
    apply(folder, {**changed, **dict.fromkeys([*deleted, own.name])})
    kept = [path for path in here if path not in deleted]
    return Moved(root, [*changed], sorted([*deleted, own.name]), kept, packages)


def eject(folder: Path) -> Moved:
    """Make a member of a workspace a standalone repository, atomically.

    The user's own versions of shared files stay. The wheel is written last: until then, the
    repository is a member, and the next run completes it.

    Raises:
        OpkitError: the folder is not a member, the workspace is of another version, or a file is a
            link, or cannot be written.
    """
    require(folder)
    root = workspace_members.of_member(folder)
    if root is None:
        raise OpkitError(f"{folder} is not an operator of a workspace; it stands alone")
    workspaces.require_current(root)
    own, data = wheel()
    spec = _spec(folder)
    requirements = (root / REQUIREMENTS).read_text(encoding="utf-8")
    shared = _shared(folder, spec, requirements, left_out(DEFAULT_EXTRAS))
    generated = {*_generated(folder, spec), LOCK}
    kept = [path for path in shared if path not in generated and (folder / path).is_file()]
    shared = {path: content for path, content in shared.items() if path not in kept}
    files = _own(folder)
    for path in {*WITH_PATHS} & {*files}:
        text = files[path].decode()
        for alone, member in reversed(workspaces.passages(workspaces.up(root, folder))):
            text = text.replace(member, alone)
        files[path] = text.encode()
    once = once_only_files(spec, runtimes.selected(spec))
    whole = workspaces.whole_manifest(
        repository.read_manifest(folder),
        manifest.Manifest(
            once={path: manifest.digest(text.encode()) for path, text in once.items()},
            generated=tuple(_generated(folder, spec)),
            lock=manifest.digest(shared[LOCK]),
        ),
    )
    files[manifest.PATH] = manifest.to_text(whole).encode()
    files |= shared | _cruft(folder, spec)
    changed = _changed(folder, files)
    apply(folder, {**changed, own.name: data})
    return Moved(root, sorted([*changed, own.name]), kept=kept)


def _spec(folder: Path) -> OpSpec:
    file = folder / "op.yml"
    return runtimes.parse(read_description(file), str(file))


def _own(folder: Path) -> dict[str, bytes]:
    """Return path -> content of the files that differ between a repository and a member."""
    return {
        path: (folder / path).read_bytes()
        for path in (*WITH_PATHS, manifest.PATH)
        if (folder / path).is_file()
    }


def _changed(folder: Path, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {
        path: content
        for path, content in files.items()
        if not (folder / path).is_file() or (folder / path).read_bytes() != content
    }


def _generated(folder: Path, spec: OpSpec) -> dict[str, bytes]:
    """Return path -> content of the generated files that are shared in a workspace."""
    reference = (folder / f"{spec.lower}_reference.py").read_text(encoding="utf-8")
    math = (folder / spec.math_file).read_text(encoding="utf-8") if spec.elementwise else ""
    texts = generated_files(spec, reference, runtimes.selected(spec), math)
    return {
        path: text.encode() for path, text in texts.items() if workspace_members.is_shared(path)
    }


def _shared(
    folder: Path, spec: OpSpec, requirements: str, left_out: Collection[str] = ()
) -> dict[str, bytes]:
    """Return path -> content of the shared files of a standalone repository.

    Args:
        folder: the repository.
        spec: its operator.
        requirements: the text of the workspace's requirements.txt; empty: without own packages.
        left_out: the paths of the template's files that the repository does not get.
    """
    once = once_only_files(spec, runtimes.selected(spec))
    text = requirements_text(wheel()[0], requirements)
    texts = {
        **{path: text for path, text in once.items() if workspace_members.is_shared(path)},
        REQUIREMENTS: text,
        LOCK: lock_text(wheel()[0], extra_in(text)),
    }
    copied = {
        path: data
        for path, data in template.files().items()
        if workspace_members.is_shared(path) and path not in left_out
    }
    encoded = {path: text.encode() for path, text in texts.items()}
    return {**copied, **encoded, **_generated(folder, spec)}


def _cruft(folder: Path, spec: OpSpec) -> dict[str, bytes]:
    """Return cruft's record, if it is missing and the template's origin is known."""
    generated = {*repository.read_manifest(folder).generated, manifest.PATH}
    skipped = {REQUIREMENTS, *once_only_files(spec, runtimes.selected(spec))}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _BUILT]
        paths = (Path(place, name).relative_to(folder).as_posix() for name in names)
        skipped.update(path for path in paths if not path.startswith("rknn_opkit-"))
    skipped -= {*generated, *template.files(), *_generated(folder, spec), LOCK, CRUFT}
    text = cruft_of(spec, read_description(folder / "op.yml"), folder, sorted(skipped))
    return {CRUFT: text.encode()} if text and not (folder / CRUFT).is_file() else {}
