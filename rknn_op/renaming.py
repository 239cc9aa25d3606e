"""`rknn-op rename`: another name for an operator, in all of its repository's files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from opkit import manifest, repository, runtimes
from opkit.complaint import SourceError
from opkit.creation.wheel import wheel
from opkit.description.file import read_description
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.files.generated import generated_files
from opkit.files.skeletons import once_only_files
from opkit.models.rewriting import with_name
from opkit.repository_files import write_bytes
from rknn_op.all_or_nothing import restored_on_error
from rknn_op.creation import CRUFT, cruft_text
from rknn_op.joining import placed
from rknn_op.repositories import require
from rknn_op.update import refuse_uncommitted

_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".h", ".md", ".py", ".vx")
"""The suffixes of files in which names are replaced."""
_SKIPPED = ("build", "venv", "__pycache__", "docs", "include", "generated")


@dataclass(frozen=True)
class Renamed:
    """A renamed operator.

    Attributes:
        moved: old path -> new path of each file of the user that has a new name.
        changed: the paths of the user's other changed files.
        left: `file:line` of each line of the user's that still has the old name.
    """

    moved: Mapping[str, str]
    changed: Collection[str]
    left: Collection[str]


def rename(folder: Path, name: str, dry_run: bool = False, allow_dirty: bool = False) -> Renamed:
    """Rename an operator: op.yml, the names of files, and identifiers in the user's files.

    After an error all files are as before.

    Args:
        folder: the repository.
        name: the new name.
        dry_run: change nothing.
        allow_dirty: rename despite uncommitted changes.

    Raises:
        OpkitError: the folder is not an operator repository of this version, the name is invalid,
            a file exists under a new path, or there are uncommitted changes.
    """
    require(folder)
    text = read_description(folder / "op.yml")
    old = runtimes.parse(text, str(folder / "op.yml"))
    after = with_name(text, name)
    new = runtimes.parse(after, f"{folder / 'op.yml'}, renamed")
    if old.name == new.name:
        raise OpkitError(f"{folder}: the operator's name is {name} already")
    if repository.read_manifest(folder).wheel != wheel()[0]:
        raise OpkitError(f"{folder}: is of another version; run `rknn-op update` first")
    if not (dry_run or allow_dirty):
        refuse_uncommitted(folder, "the new name")
    for complaint in repository.missing(folder, old):
        raise SourceError(complaint)
    contents = _contents(folder, old, new) | {"op.yml": ("op.yml", f"{after}\n".encode())}
    moved = {path: to for path, (to, _) in contents.items() if path != to}
    contents |= _cruft(folder, after, moved)
    _refuse_existing(folder, moved)
    changed = [
        path
        for path, (to, data) in contents.items()
        if path == to and data != (folder / path).read_bytes()
    ]
    if not dry_run:
        _write(folder, new, contents, moved)
    return Renamed(moved, changed, [*_left(contents, old)])


def _refuse_existing(folder: Path, moved: Mapping[str, str]) -> None:
    for to in moved.values():
        # A name that differs only in case keeps its files.
        if os.path.lexists(folder / to) and to not in moved:
            raise OpkitError(f"{folder / to} exists; rename or delete it")


def _write(
    folder: Path, spec: OpSpec, contents: Mapping[str, tuple[str, bytes]], moved: Mapping[str, str]
) -> None:
    """Write all files, or none."""
    before = repository.read_manifest(folder)
    generated = {*before.generated, *_generated(spec, dict(contents.values()))}
    paths = {*contents, *(to for to, _ in contents.values()), *generated, manifest.PATH}
    once = {moved.get(path, path): version for path, version in before.once.items()}
    with restored_on_error(folder, paths):
        for to, data in contents.values():
            write_bytes(folder, to, data)
        for path in {*moved} - {*moved.values()}:
            (folder / path).unlink()
        text = manifest.to_text(replace(before, once=once))
        write_bytes(folder, manifest.PATH, text.encode())
        repository.write(folder, spec)


def _generated(spec: OpSpec, files: Mapping[str, bytes]) -> Collection[str]:
    """Return the paths of the generated files.

    Args:
        spec: the operator with its new name.
        files: path -> content of the user's files, with that name.

    Raises:
        OpkitError: the reference or the math cannot be used.
    """
    reference = files[f"{spec.lower}_reference.py"].decode(errors="replace")
    math = files[spec.math_file].decode(errors="replace") if spec.elementwise else ""
    return generated_files(spec, reference, runtimes.selected(spec), math)


def _contents(folder: Path, old: OpSpec, new: OpSpec) -> dict[str, tuple[str, bytes]]:
    """Return old path -> new path and content of each file of the user."""
    renamed = _renamer(old, new)
    skeletons = placed(folder, once_only_files(old, runtimes.selected(old)))
    generated = {*repository.read_manifest(folder).generated}
    contents = {}
    for path in _files(folder):
        if path in generated:
            continue
        data = (folder / path).read_bytes()
        if path.endswith(_SUFFIXES) or path in skeletons:
            lines = {*skeletons.get(path, "").splitlines(keepends=True)}
            data = _replaced(data, lines, renamed, old, new)
        contents[path] = (renamed(path), data)
    return contents


def _cruft(folder: Path, text: str, moved: Mapping[str, str]) -> dict[str, tuple[str, bytes]]:
    """Return cruft's record with the new description and paths; empty if there is none."""
    try:
        state = json.loads((folder / CRUFT).read_text(encoding="utf-8"))
        state["context"]["cookiecutter"]["config"] = text
        state["skip"] = [moved.get(path, path) for path in state["skip"]]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return {}
    return {CRUFT: (CRUFT, cruft_text(state).encode())}


def _files(folder: Path) -> Iterator[str]:
    """Yield the paths of the files that may have the operator's name; links are not followed."""
    for place, folders, names in os.walk(folder):
        top = Path(place) == folder
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and not (name in _SKIPPED and (top or name[0] == "_"))
        ]
        for name in names:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink() and path.suffix != ".whl":
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

    def with_words(line: str) -> str:
        return path.sub(new.lower, word.sub(rf"\g<1>{new.name}", line))

    return "".join(
        renamed(with_words(line) if line in skeleton else line) for line in lines
    ).encode()


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
