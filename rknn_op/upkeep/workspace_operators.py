"""The repositories that a command takes, and their runs of SCons."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opkit import workspace_members
from opkit.errors import OpkitError

_TARGET = "target="


def operators(paths: Sequence[Path]) -> list[Path]:
    """Return the repositories that paths name, each once.

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
    """Return the workspaces among paths; none: the current folder, if it is one."""
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


@dataclass(frozen=True)
class Selection:
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
        """Return a line for each target that a repository lacks; empty: none does."""
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
    """Return the option of SCons' arguments that names the target; empty: none does."""
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
