"""`rknn-op lint`: all that is wrong with a description or a repository."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from opkit import runtimes
from opkit.complaint import Complaint
from opkit.description.file import read_description
from opkit.description.reader import DescriptionError
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.version import VERSION, is_newer, is_version
from rknn_op import template


def lint(path: Path) -> list[Complaint]:
    """Return what is wrong with a description, or with a repository if it is a folder.

    Raises:
        OpkitError: the folder is not an operator repository.
    """
    if not path.is_dir():
        return _description(path, str(path))[1]
    from rknn_op.repositories import require  # only here: a description needs no subprocess

    require(path)
    return [
        replace(each, file=str(path / each.file))
        for each in _repository(path, *_description(path / "op.yml", "op.yml"))
    ]


def _description(path: Path, name: str) -> tuple[OpSpec | None, list[Complaint]]:
    try:
        return runtimes.complaints(read_description(path), name)
    except DescriptionError as error:
        return None, [replace(error.complaint, file=name)]


# ---- A repository --------------------------------------------------------------------------------


def _repository(
    root: Path, spec: OpSpec | None, description: Sequence[Complaint]
) -> Iterator[Complaint]:
    yield from description
    of_opkit = [*_opkit(root, spec)]
    yield from of_opkit
    if spec is None:
        return
    from opkit import repository

    missing = repository.missing(root, spec)
    yield from missing
    if any(not each.field for each in missing):
        return  # what follows reads them
    if _version(root) == VERSION:
        try:
            yield from repository.stale(root, spec)
        except OpkitError as error:
            yield Complaint(f"{spec.lower}_reference.py", str(error))
    yield from repository.drift(root, spec)


def _version(root: Path) -> str:
    """Return the version of a repository's opkit; empty if nobody knows."""
    try:
        text = (root / "opkit/VERSION").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
    return text if is_version(text) else ""


_UPDATE = "`rknn-op update` writes opkit/ anew"


def _opkit(root: Path, spec: OpSpec | None) -> Iterator[Complaint]:
    """Yield how a repository's opkit is not that of this version."""
    version = _version(root)
    if not version:
        yield Complaint("opkit/VERSION", "holds no version", hint=_UPDATE)
    elif is_newer(version):
        problem = f"version {version} of the template; this command is of {VERSION}"
        hint = f"install that version (`pip install 'rknn-op-template>={version}'`)"
        yield Complaint("opkit/VERSION", problem, 1, hint=hint, severity="warning")
    elif version != VERSION:
        problem = f"version {version} of the template; this command is of {VERSION}"
        hint = "`rknn-op update` brings opkit/ and generated/ to it"
        yield Complaint("opkit/VERSION", problem, 1, hint=hint, severity="warning")
    else:
        yield from _changed_files(root, spec)


def _changed_files(root: Path, spec: OpSpec | None) -> Iterator[Complaint]:
    """Yield the files of opkit that somebody has changed."""
    required = spec.runtimes if spec else ()
    rooms = [
        name
        for name in runtimes.available()
        if name in required or (root / "opkit/runtimes" / name).is_dir()
    ]
    ours = template.files(tuple(rooms))
    theirs = {
        str(path.relative_to(root)): path
        for path in (root / "opkit").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    for path in sorted({*theirs, *(path for path in ours if path.startswith("opkit/"))}):
        if path not in theirs:
            yield Complaint(path, "not found", hint=_UPDATE)
        elif path not in ours:
            problem = f"is not part of version {VERSION}"
            yield Complaint(path, problem, hint=_UPDATE, severity="warning")
        elif ours[path] != theirs[path].read_bytes():
            problem = f"is not as in version {VERSION}: somebody has changed it"
            yield Complaint(path, problem, hint=_UPDATE, severity="warning")


# ---- Formats -------------------------------------------------------------------------------------


def _text(complaints: Iterable[Complaint]) -> str:
    return "".join(f"{str(each).rstrip()}\n" for each in complaints)


def _json(complaints: Iterable[Complaint]) -> str:
    import json  # only here: people read text

    keys = ("file", "line", "column", "field", "message", "severity", "hint")
    return json.dumps([{k: getattr(each, k) for k in keys} for each in complaints], indent=2) + "\n"


def _github(complaints: Iterable[Complaint]) -> str:
    """Return GitHub's workflow commands, by which it shows complaints beside the lines."""
    lines = []
    for each in complaints:
        properties = {
            "file": each.file,
            "line": each.line,
            "col": each.column,
            "title": each.field or "rknn-op lint",
        }
        listed = ",".join(
            f"{name}={_escaped(str(value), ':,')}"
            for name, value in properties.items()
            if value is not None
        )
        message = f"{each.message}; {each.hint}" if each.hint else each.message
        lines.append(f"::{each.severity} {listed}::{_escaped(message.rstrip())}\n")
    return "".join(lines)


def _escaped(text: str, more: str = "") -> str:
    """Return a text without what ends a part of a workflow command."""
    return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in text)


FORMATS: dict[str, Callable[[Iterable[Complaint]], str]] = {
    "text": _text,
    "json": _json,
    "github": _github,
}
"""The name of a format -> what makes the text of complaints."""
