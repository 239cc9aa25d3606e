"""`rknn-op lint`: all problems of a description, a repository, or a workspace."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from opkit import runtimes
from opkit.common.complaint import Complaint, SourceError
from opkit.common.errors import OpkitError
from opkit.common.terminal import fitted
from opkit.description.file import read_description
from opkit.description.reader import DescriptionError
from opkit.description.spec import OpSpec

_FEW = 8
"""The count of paths up to which starting processes takes longer than it saves."""


def lint_all(paths: Sequence[Path]) -> Iterator[Complaint]:
    """Yield the complaints about all paths, in order, on all processors.

    Raises:
        OpkitError: as lint does.
    """
    few = len(paths) if len(paths) <= _FEW else 1  # the first one fills the caches of all
    for path in paths[:few]:
        yield from lint(path)
    if paths[few:]:
        from rknn_op.process_pool import parallel  # only here: it takes long to import

        for found in parallel(lint, paths[few:], at_once=_FEW):
            yield from found


def lint(path: Path) -> list[Complaint]:
    """Return the complaints about a description, or about a repository if it is a folder.

    Raises:
        OpkitError: the folder is not an operator repository.
    """
    if not path.is_dir():
        return _description(path, str(path))[1]
    from rknn_op.own_opkit import require  # only here: a description needs no subprocess

    require(path)
    return [
        each._replace(file=str(path / each.file))
        for each in _repository(path, *_description(path / "op.yml", "op.yml"))
    ]


def _description(path: Path, name: str) -> tuple[OpSpec | None, list[Complaint]]:
    try:
        return runtimes.complaints(read_description(path), name)
    except DescriptionError as error:
        return None, [error.complaint._replace(file=name)]


# ---- A repository --------------------------------------------------------------------------------


def _repository(
    root: Path, spec: OpSpec | None, description: Sequence[Complaint]
) -> Iterator[Complaint]:
    yield from description
    of_opkit = [*_opkit(root)]
    yield from of_opkit
    yield from _refusals(root)
    if spec is None:
        return
    from opkit import repository
    from opkit.files.source_check import idle_keys, unread_params

    missing = repository.missing(root, spec)
    yield from missing
    if any(not each.field for each in missing):
        return  # the checks below read these files
    if not of_opkit:
        try:
            yield from repository.stale(root, spec)
        except SourceError as error:
            yield error.complaint
        except OpkitError as error:
            yield Complaint(f"{spec.lower}_reference.py", str(error))
    with _cache() as cache:
        yield from repository.drift(root, spec, cache)
    yield from unread_params(root, spec)
    yield from idle_keys(root, spec)


def _refusals(root: Path) -> Iterator[Complaint]:
    """Yield complaints about other causes for `scons` to stop at its start."""
    from opkit import repository
    from opkit.build import machinery
    from opkit.repository_files import refuse_links, refuse_links_in

    with suppress(OpkitError):  # a complaint of its own
        generated = repository.read_manifest(root).generated
        yield from _refusal(root, lambda: refuse_links(root, *generated))
    yield from _refusal(root, lambda: repository.refuse_path(root))
    yield from _refusal(root, lambda: refuse_links_in(root, "build", but=machinery.FOLDER))
    try:
        ast.parse((root / "SConstruct").read_bytes())
    except (SyntaxError, ValueError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        yield Complaint("SConstruct", f"not valid Python: {error}", line)


def _refusal(root: Path, check: Callable[[], None]) -> Iterator[Complaint]:
    try:
        check()
    except OpkitError as error:
        place, _, problem = str(error).partition(": ")
        path = Path(place)
        file = str(path.relative_to(root)) if path.is_relative_to(root) else ""
        yield Complaint(file, problem)


@contextmanager
def _cache() -> Iterator[Path]:
    """Yield the user's cache or a temporary folder, outside of the repository."""
    from opkit.build.user_cache import cache_folder

    shared = cache_folder("", os.environ)
    if shared:
        yield shared
        return
    from opkit.common.scratch import temporary_folder

    with temporary_folder() as folder:
        yield folder


_UPDATE = "`rknn-op update` brings the repository to this version"


def _opkit(root: Path) -> Iterator[Complaint]:
    """Yield complaints if a repository's opkit is not the one of this version."""
    from opkit import manifest, repository, workspace_members
    from rknn_op import own_opkit
    from rknn_op.creation.wheel import wheel

    try:
        own = repository.read_manifest(root).wheel
    except OpkitError as error:
        yield Complaint(manifest.PATH, str(error).removeprefix(f"{manifest.PATH}: "))
        return
    if own is None:
        hint = f"restore it (`git checkout {manifest.PATH}`), or run `rknn-op update`"
        yield Complaint(manifest.PATH, "not found", hint=hint)
        return
    current, data = wheel()
    try:
        own_opkit.content(root, own, data if own == current else b"")
    except OpkitError as error:
        yield Complaint(own.name, str(error), hint=own_opkit.RESTORE)
        return
    if not workspace_members.of_member(root):  # whose lock is its workspace's
        yield from repository.changed_lock(root)
    if own != current:
        problem = f"is of version {own.version}; this command is of {current.version}"
        yield Complaint(own.name, problem, hint=_UPDATE, severity="warning")


# ---- A workspace ---------------------------------------------------------------------------------

_UPDATE_WORKSPACE = "`rknn-op update` of the workspace brings it to this version"


def workspace_complaints(root: Path) -> Iterator[Complaint]:
    """Yield the problems of a workspace's own files; those of its operators are lint's.

    Raises:
        OpkitError: rknn-op.toml is invalid.
    """
    from opkit import repository, workspace_members
    from opkit.shared_files import shared_files
    from opkit.workspace_members import members
    from rknn_op.creation.wheel import wheel

    own, _ = wheel()
    if not (root / own.name).is_file():
        yield Complaint(str(root / own.name), "not found", hint=_UPDATE_WORKSPACE)
        return
    for path, text in shared_files().items():
        file = root / path
        if not file.is_file():
            yield Complaint(str(file), "not found", hint=_UPDATE_WORKSPACE)
        elif file.read_bytes() != text.encode():
            yield Complaint(str(file), "is not the file of this version", hint=_UPDATE_WORKSPACE)
    for each in repository.changed_lock(root):
        yield each._replace(file=str(root / each.file))
    for member in members(root):
        if workspace_members.has_wheel(member):
            problem = "has a wheel of its own, so it is not a member of the workspace"
            hint = f"run `rknn-op workspace add {member}`, or move it elsewhere"
            yield Complaint(str(member), problem, hint=hint, severity="warning")


# ---- Formats -------------------------------------------------------------------------------------


def _text(complaints: Iterable[Complaint]) -> str:
    return "".join(f"{fitted(str(each).rstrip(), sys.stdout)}\n" for each in complaints)


def _json(complaints: Iterable[Complaint]) -> str:
    import json  # only here: people read text

    keys = ("file", "line", "column", "field", "message", "severity", "hint")
    return json.dumps([{k: getattr(each, k) for k in keys} for each in complaints], indent=2) + "\n"


def _github(complaints: Iterable[Complaint]) -> str:
    """Return GitHub's workflow commands that annotate lines with complaints."""
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
        command = "notice" if each.severity == "note" else each.severity
        lines.append(f"::{command} {listed}::{_escaped(message.rstrip())}\n")
    return "".join(lines)


def _escaped(text: str, more: str = "") -> str:
    """Escape the delimiters of a workflow command."""
    return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in text)


FORMATS: dict[str, Callable[[Iterable[Complaint]], str]] = {
    "text": _text,
    "json": _json,
    "github": _github,
}
"""Name of a format -> function that renders complaints."""
