"""The names of operators: no two of a workspace, or in one command, have the same.

Letter case does not matter, because files and symbols have names in lower case.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from opkit import runtimes, workspace_members
from opkit.complaint import Complaint, SourceError
from opkit.description.file import read_description
from opkit.description.reader import position
from opkit.errors import OpkitError
from opkit.workspace_members import members

# Of `rknn-op lint` of hundreds of operators, parsing YAML again would be a fifth of the time.
_NAME = re.compile(r"^name[ ]*:[ ]+(\w+)[ ]*(?:#.*)?$", re.MULTILINE)


def operator_name(folder: Path) -> str:
    """Return the name in a repository's op.yml; empty if it cannot be read."""
    with suppress(OpkitError):
        text = read_description(folder / "op.yml")
        found = _NAME.search(text)
        return found[1] if found else runtimes.parse(text, "op.yml").name
    return ""


def complaints(folders: Sequence[Path]) -> Iterator[Complaint]:
    """Yield a complaint about each operator with the name of another one.

    Args:
        folders: the repositories; each is compared with the other ones, and with its workspace.

    Raises:
        OpkitError: the rknn-op.toml of a workspace is invalid.
    """
    known = _folders_of_names([*folders, *_neighbors(folders)])
    for folder in folders:
        name = operator_name(folder)
        here = os.path.realpath(folder)
        others = [other for path, other in known.get(name.lower(), {}).items() if path != here]
        if others:
            yield Complaint(
                str(folder / "op.yml"),
                f"{name} is also the name of the operator in {shown(others[0])}",
                *position(read_description(folder / "op.yml"), "name"),
                field="name",
                hint=f"delete one, or run `rknn-op rename NEW -p {folder}`",
            )


def refuse_equal(folders: Sequence[Path]) -> None:
    """Refuse repositories of which complaints() complains.

    Raises:
        OpkitError: as described there.
    """
    for complaint in complaints(folders):
        raise SourceError(complaint)


def refuse_taken(folder: Path, name: str) -> None:
    """Refuse the new name of an operator if another one of its workspace has it.

    Raises:
        OpkitError: another one has it, or rknn-op.toml is invalid.
    """
    known = _folders_of_names(_neighbors([folder])).get(name.lower(), {})
    for path, other in known.items():
        if path != os.path.realpath(folder):
            raise OpkitError(
                f"{folder}: {name} is already the name of the operator in {shown(other)}; pass "
                "another name"
            )


def shown(path: Path) -> str:
    """Return a path for messages, relative to the current folder if it is below."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def _neighbors(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield all operators of the workspaces that have some of the folders."""
    roots = {root for folder in folders if (root := workspace_members.of_member(folder))}
    for root in sorted(roots):
        yield from members(root)


def _folders_of_names(folders: Iterable[Path]) -> dict[str, dict[str, Path]]:
    """Return name in lower case -> real path -> folder, of operators with a readable name."""
    found: dict[str, dict[str, Path]] = {}
    unique = {os.path.realpath(folder): folder for folder in reversed([*folders])}
    for path, folder in unique.items():
        if name := operator_name(folder):
            found.setdefault(name.lower(), {})[path] = folder
    return found
