"""The repositories that a command takes, their runs of SCons, and their operators' names.

No two operators of a workspace, or in one command, have the same name. Letter case does not matter,
because files and symbols have names in lower case.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from opkit import runtimes, workspace_members
from opkit.common.complaint import Complaint, SourceError
from opkit.common.errors import OpkitError
from opkit.description.file import read_description
from opkit.description.reader import position
from opkit.workspace_members import members

_TARGET = "target="


def operators(paths: Sequence[Path]) -> list[Path]:
    """Return the unique repositories of paths.

    A workspace, or a folder of one, stands for the operators in it.

    Args:
        paths: repositories, or folders of a workspace; none: the current folder.

    Raises:
        OpkitError: a workspace has no operator there, or its rknn-op.toml is invalid.
    """
    return list(dict.fromkeys(each for path in paths or [Path()] for each in _operators(path)))


def _operators(path: Path) -> list[Path]:
    root = workspace_members.above(path)
    if root is None or not path.is_dir() or (path / "op.yml").is_file():
        return [path]
    from opkit.workspace_members import members  # only here: most repositories stand alone

    here = Path(os.path.abspath(path))  # noqa: PTH100  resolve() would follow links
    found = [each for each in members(root) if each.is_relative_to(here)]
    if not found:
        raise OpkitError(
            f"{path}: the workspace {root} has no operator here; make one with "
            "`rknn-op create -c YAML -p DIR`"
        )
    return [path / each.relative_to(here) for each in found]


def roots(paths: Sequence[Path]) -> list[Path]:
    """Return the workspaces among paths; by default the current folder, if it is one."""
    return [path for path in paths or [Path()] if (path / workspace_members.FILE).is_file()]


def changed_operators(folders: Sequence[Path], ref: str) -> list[Path]:
    """Return the members of one workspace that differ from a commit; all if a shared file does.

    Raises:
        OpkitError: a repository is not a member of the first one's workspace, or git fails.
    """
    from opkit.ci.git_changes import changed  # only here: it runs git

    root = workspace_members.of_member(folders[0])
    places: dict[Path, Path] = {}  # absolute path -> path
    for folder in folders:
        if root is None or workspace_members.of_member(folder) != root:
            raise OpkitError(
                f"{folder}: is not an operator of the workspace; --changed is for one workspace, "
                "made by `rknn-op workspace init`"
            )
        places[Path(os.path.abspath(folder))] = folder  # noqa: PTH100  as in _operators
    assert root is not None
    return [places[each] for each in changed(root, [*places], ref)]


class Selection(NamedTuple):
    """The runs of SCons for several repositories.

    Attributes:
        commands: repository -> the arguments of each run in it.
        left_out: option with a target -> the count of repositories without that target.
        total: the count of the repositories.
    """

    commands: Mapping[Path, Sequence[Sequence[str]]]
    left_out: Mapping[str, int]
    total: int

    def note(self) -> str:
        """Return a line for each target that a repository lacks."""
        return "\n".join(
            f"{target}: left out {count} of {self.total} operators, which have no such target"
            for target, count in self.left_out.items()
        )


def selection(folders: Sequence[Path], commands: Sequence[Sequence[str]]) -> Selection:
    """Return the runs of SCons, without those for targets that an operator does not have.

    A single repository has all of the runs: SCons prints what is wrong.

    Raises:
        OpkitError: no repository has one of the targets.
    """
    if len(folders) == 1:
        return Selection({folders[0]: commands}, {}, 1)
    left_out: Counter[str] = Counter()
    chosen: dict[Path, list[Sequence[str]]] = {}
    for folder in folders:
        fitting = [words for words in commands if _has_target(folder, _target(words))]
        left_out.update(_target(words) for words in commands if words not in fitting)
        if fitting:
            chosen[folder] = fitting
    for target, count in left_out.items():
        if count == len(folders):
            raise OpkitError(
                f"{target}: none of {count} operators has this target; `rknn-op targets` lists the "
                "targets of each runtime"
            )
    return Selection(chosen, left_out, len(folders))


def _target(words: Sequence[str]) -> str:
    """Return the argument `target=...` of SCons; empty without one."""
    return next((word for word in reversed(words) if word.startswith(_TARGET)), "")


def _has_target(folder: Path, option: str) -> bool:
    if not option:
        return True
    from opkit import repository

    try:
        return repository.has_target(repository.load(folder), option.removeprefix(_TARGET))
    except OpkitError:
        return True  # SCons prints the error


def with_runtime(folders: Sequence[Path], name: str) -> list[Path]:
    """Return the repositories of operators for a runtime, and those with an invalid op.yml."""
    from opkit import repository

    def has_runtime(folder: Path) -> bool:
        try:
            return name in repository.load(folder).runtimes
        except OpkitError:
            return True  # the command prints the error

    return [each for each in folders if has_runtime(each)]


# ---- Names ---------------------------------------------------------------------------------------

# Of `rknn-op lint` of hundreds of operators, parsing YAML again would be a fifth of the time.
_NAME = re.compile(r"^name[ ]*:[ ]+(\w+)[ ]*(?:#.*)?$", re.MULTILINE)


def operator_name(folder: Path) -> str:
    """Return the name in a repository's op.yml; empty if it cannot be read."""
    with suppress(OpkitError):
        text = read_description(folder / "op.yml")
        found = _NAME.search(text)
        return found[1] if found else runtimes.parse(text, "op.yml").name
    return ""


def name_complaints(folders: Sequence[Path]) -> Iterator[Complaint]:
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
                f"{name} is also the name of the operator in {relative_path(others[0])}",
                *position(read_description(folder / "op.yml"), "name"),
                field="name",
                hint=f"delete one, or run `rknn-op rename NEW -p {folder}`",
            )


def refuse_equal_names(folders: Sequence[Path]) -> None:
    """Refuse repositories of which name_complaints() complains.

    Raises:
        OpkitError: as described there.
    """
    for complaint in name_complaints(folders):
        raise SourceError(complaint)


def refuse_taken_name(folder: Path, name: str) -> None:
    """Refuse the new name of an operator if another one of its workspace has it.

    Raises:
        OpkitError: another one has it, or rknn-op.toml is invalid.
    """
    known = _folders_of_names(_neighbors([folder])).get(name.lower(), {})
    for path, other in known.items():
        if path != os.path.realpath(folder):
            raise OpkitError(
                f"{folder}: {name} is already the name of the operator in {relative_path(other)}; "
                "pass another name"
            )


def relative_path(path: Path) -> str:
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
