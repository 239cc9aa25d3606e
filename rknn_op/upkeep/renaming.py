"""`rknn-op rename`: another name for an operator, in all of its repository's files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from opkit import manifest, repository, runtimes
from opkit.common.complaint import SourceError
from opkit.common.errors import OpkitError
from opkit.description.file import read_description
from opkit.description.spec import OpSpec
from opkit.files.generation import generated_files
from opkit.files.skeletons import once_only_files
from opkit.manifest import Manifest
from opkit.repository_files import refuse_links, write_bytes
from rknn_op.all_or_nothing import restored_on_error
from rknn_op.creation.description_texts import with_entry
from rknn_op.creation.new_repository import CRUFT, cruft_text
from rknn_op.creation.wheel import wheel
from rknn_op.creation.workspaces import placed
from rknn_op.own_opkit import require
from rknn_op.upkeep import chosen_operators
from rknn_op.upkeep.updating import refuse_uncommitted

OP_YML = "op.yml"
_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".h", ".md", ".py", ".vx")
"""The suffixes of files in which names are replaced."""
_SKIPPED = ("build", "venv", "__pycache__", "docs", "include", "generated")


@dataclass(frozen=True)
class Renamed:
    """A renamed operator.

    Attributes:
        moved: old path -> new path of each file of the user that has a new name.
        changed: the paths of the user's other changed files.
        deleted: the paths of built files of the old name.
        left: `file:line` of each line of the user's that still has the old name.
    """

    moved: Mapping[str, str]
    changed: Collection[str]
    deleted: Collection[str]
    left: Collection[str]


def rename(folder: Path, name: str, dry_run: bool = False, allow_dirty: bool = False) -> Renamed:
    """Rename an operator: op.yml, the names of files, and identifiers in the user's files.

    After an error all files are as before, except for built ones; after a kill the next run
    completes it. Built files of the old name are deleted.

    Args:
        folder: the repository.
        name: the new name.
        dry_run: change nothing.
        allow_dirty: rename despite uncommitted changes.

    Raises:
        OpkitError: the folder is not an operator repository of this version, the name is invalid,
            another operator of the workspace has it, a file exists under a new path, a file to
            change is a link, or there are uncommitted changes.
    """
    require(folder)
    text = read_description(folder / OP_YML)
    old = runtimes.parse(text, str(folder / OP_YML))
    after = with_entry(text, "name", name)
    new = runtimes.parse(after, f"{folder / OP_YML}, renamed")
    if old.name == new.name:
        raise OpkitError(f"{folder}: the operator's name is {name} already")
    if repository.read_manifest(folder).wheel != wheel()[0]:
        raise OpkitError(f"{folder}: is of another version; run `rknn-op update` first")
    if not (dry_run or allow_dirty):
        refuse_uncommitted(folder, "the new name")
    chosen_operators.refuse_taken_name(folder, new.name)
    renamed = _renamer(old, new)
    for complaint in repository.missing(folder, old):
        if not _is_done(folder, complaint.file, renamed):
            raise SourceError(complaint)
    contents = _contents(folder, old, new) | {OP_YML: (OP_YML, f"{after}\n".encode())}
    moved = {path: to for path, (to, _) in contents.items() if path != to}
    contents |= _cruft(folder, after, moved)
    for path in moved:
        to, data = contents[path]
        file = folder / to
        # A name that differs only in case keeps its files, and a killed run has left its own.
        is_own = to in moved or not os.path.lexists(file)
        if not is_own and (not file.is_file() or file.read_bytes() != data):
            raise OpkitError(f"{file} exists; rename or delete it")
    before = repository.read_manifest(folder)
    once = dict[str, str]()
    for path, digest in before.once.items():
        if path in contents:
            to, data = contents[path]
            is_unedited = manifest.digest((folder / path).read_bytes()) == digest
            once[to] = manifest.digest(data) if is_unedited else digest
        else:
            once[renamed(path) if _is_done(folder, path, renamed) else path] = digest
    files = dict(contents.values())
    reference = files[f"{new.lower}_reference.py"].decode(errors="replace")
    math = files[new.math_file].decode(errors="replace") if new.elementwise else ""
    now = generated_files(new, reference, runtimes.selected(new), math)
    generated = {*before.generated, *now}
    paths = {*contents, *(to for to, _ in contents.values()), *generated, manifest.PATH}
    refuse_links(folder, "build", *paths, *(path for path in before.once if renamed(path) != path))
    changed = [
        path
        for path, (to, data) in contents.items()
        if path == to and data != (folder / path).read_bytes()
    ]
    deleted = _built(folder, old)
    if not dry_run:
        with restored_on_error(folder, paths):
            _write(folder, new, contents, before._replace(once=once), deleted)
    return Renamed(moved, changed, deleted, [*_left(contents, old)])


def _is_done(folder: Path, path: str, renamed: Callable[[str], str]) -> bool:
    """Return whether a killed run has renamed a file already."""
    to = renamed(path)
    return to != path and not (folder / path).exists() and (folder / to).is_file()


def _write(
    folder: Path,
    spec: OpSpec,
    contents: Mapping[str, tuple[str, bytes]],
    written: Manifest,
    deleted: Collection[str],
) -> None:
    """Write and delete files, op.yml last: a killed run is repeated from the start.

    The manifest is first: after it, the digests of files without edits are unknown.
    """
    write_bytes(folder, manifest.PATH, manifest.to_text(written).encode())
    new = {to: data for to, data in contents.values() if to != OP_YML}
    for to, data in new.items():
        write_bytes(folder, to, data)
    repository.write(folder, spec)
    for path in {*contents, *deleted} - {*new, OP_YML}:
        (folder / path).unlink(missing_ok=True)
    write_bytes(folder, *contents[OP_YML])


def _built(folder: Path, old: OpSpec) -> list[str]:
    """Return the paths of the built files with the old name, and of the report about them."""
    name = re.compile(
        rf"{old.name}\.|(?:\w+_|lib)?{old.lower}(?![A-Za-z0-9])|report\.(?:html|json)$"
    )
    return sorted(
        path.relative_to(folder).as_posix()
        for place, _, files in os.walk(folder / "build")
        for path in (Path(place, file) for file in files)
        if name.match(path.name) and not path.is_symlink()
    )


def _contents(folder: Path, old: OpSpec, new: OpSpec) -> dict[str, tuple[str, bytes]]:
    """Return old path -> new path and content of each file of the user.

    A link is left out if it stays as it is.
    """
    renamed = _renamer(old, new)
    skeletons = placed(folder, once_only_files(old, runtimes.selected(old)))
    generated = {*repository.read_manifest(folder).generated}
    contents = {}
    for path in _files(folder):
        if path in generated:
            continue
        before = data = (folder / path).read_bytes()
        if path.endswith(_SUFFIXES) or path in skeletons:
            lines = {*skeletons.get(path, "").splitlines(keepends=True)}
            data = _replaced(data, lines, renamed, old, new)
        if not (folder / path).is_symlink() or (path, before) != (renamed(path), data):
            contents[path] = (renamed(path), data)
    return contents


def _cruft(folder: Path, text: str, moved: Mapping[str, str]) -> dict[str, tuple[str, bytes]]:
    """Return cruft's record with the new description and paths; empty if it is missing."""
    try:
        state = json.loads((folder / CRUFT).read_text(encoding="utf-8"))
        state["context"]["cookiecutter"]["config"] = text
        state["skip"] = [moved.get(path, path) for path in state["skip"]]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return {}
    return {CRUFT: (CRUFT, cruft_text(state).encode())}


def _files(folder: Path) -> Iterator[str]:
    """Yield the paths of the files that may have the operator's name; no folder is a link."""
    for place, folders, files in os.walk(folder):
        top = Path(place) == folder
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and not (name in _SKIPPED and (top or name[0] == "_"))
        ]
        for name in files:
            path = Path(place, name)
            if path.is_file() and path.suffix != ".whl":
                yield path.relative_to(folder).as_posix()


def _replaced(
    data: bytes,
    skeleton: Collection[str],
    renamed: Callable[[str], str],
    old: OpSpec,
    new: OpSpec,
) -> bytes:
    """Return a file with the new name.

    The operator's name may be a word, such as `Add`: only unchanged lines of the template have it
    replaced.
    """
    try:
        lines = data.decode().splitlines(keepends=True)
    except UnicodeDecodeError:
        return data
    word = re.compile(rf"(?<![A-Za-z0-9_])(cst)?{old.name}(?![A-Za-z0-9_])")
    path = re.compile(rf"(?<=[_/]){old.lower}(?![A-Za-z0-9])|\b{old.lower}(?=[_./])")
    for index, line in enumerate(lines):
        if line in skeleton:
            lines[index] = path.sub(new.lower, word.sub(rf"\g<1>{new.name}", line))
    return "".join(map(renamed, lines)).encode()


def _renamer(old: OpSpec, new: OpSpec) -> Callable[[str], str]:
    """Return the function that replaces an operator's identifiers and file names in a text.

    These are `lower_...`, `LOWER_...`, `test_lower...`, `rknn_kernel_lower`, `generated/lower.h`
    and the VX kernel `lower`; not names of inputs, outputs and params, and not members.
    """
    own = {each.name for each in old.parameters}
    word = re.escape(old.lower)
    pattern = re.compile(
        rf"(?<![\w.>])(?P<upper>{word.upper()})(?=_\w)"
        rf"|(?<![\w.>])(?P<lower>{word})(?=_\w)"
        # test_, rknn_kernel_, rknn_op_, librkcst_ and libpplnn_; all alternatives have one length.
        rf"|(?<=test_|rnel_|n_op_|kcst_|plnn_)(?P<ending>{word})(?=_|\b)"
        rf"|(?<=\blib)(?P<library>{word})(?=_custom_op)"
        rf"|(?<=generated/)(?P<file>{word})(?=[._])"
        rf"|(?<=__kernel void )(?P<kernel>{word})(?=\()"
    )

    def renamed(text: str) -> str:
        def replacement(found: re.Match[str]) -> str:
            identifier = re.compile(r"\w+").match(text, found.start())
            if identifier and identifier[0] in own:
                return found[0]
            return new.lower.upper() if found["upper"] else new.lower

        return pattern.sub(replacement, text)

    return renamed


def _left(contents: Mapping[str, tuple[str, bytes]], old: OpSpec) -> Iterator[str]:
    """Yield `file:line` of each line of a text with the old name."""
    word = re.compile(rf"(?<![A-Za-z0-9_])(?:cst)?{old.name}(?![A-Za-z0-9_])".encode())
    for to, data in contents.values():
        if to.endswith(_SUFFIXES):
            for index, line in enumerate(data.splitlines(), 1):
                if word.search(line):
                    yield f"{to}:{index}"
