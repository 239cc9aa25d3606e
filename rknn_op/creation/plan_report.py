"""What `rknn-op create` prints: the files of a dry run, and the next steps."""

from __future__ import annotations

import os
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opkit.description.spec import OpSpec
from rknn_op.creation import new_repository
from rknn_op.creation.new_repository import Plan
from rknn_op.creation.workspaces import NewWorkspace


def plan_listing(planned: Plan | NewWorkspace) -> str:
    """Return the files of a planned repository or workspace by owner, at most 80 columns wide.

    Raises:
        OpkitError: it cannot be made.
    """
    if isinstance(planned, NewWorkspace):
        return _listing(f"{planned.folder}: a workspace", planned.owners())
    spec = planned.spec
    title = f"{planned.folder}: {spec.name}, for {', '.join(spec.runtimes)}"
    return _listing(title, new_repository.rehearse(planned))


def _listing(title: str, files: Mapping[str, Sequence[str]]) -> str:
    lines = [
        textwrap.fill(
            f"{owner}: {' '.join(paths)}",
            width=78,
            initial_indent="  ",
            subsequent_indent="      ",
            break_on_hyphens=False,
        )
        for owner, paths in files.items()
    ]
    return "".join(f"{line}\n" for line in [title, *lines])


def plan_entry(planned: Plan | NewWorkspace) -> dict[str, Any]:
    """Return the properties of a planned repository, for JSON; a workspace has no operator.

    Raises:
        OpkitError: it cannot be made.
    """
    if isinstance(planned, NewWorkspace):
        return {
            "folder": str(planned.folder),
            "operator": None,
            "runtimes": [],
            "target": None,
            "files": planned.owners(),
            "warnings": [],
        }
    return {
        "folder": str(planned.folder),
        "operator": planned.spec.name,
        "runtimes": [*planned.spec.runtimes],
        "target": planned.spec.target_platform,
        "files": new_repository.rehearse(planned),
        "warnings": [str(each) for each in planned.warnings],
    }


def next_steps(
    spec: OpSpec,
    folder: Path,
    math_is_old: bool = False,
    math_is_done: bool = False,
    workspace: Path | None = None,
) -> str:
    """Return the next steps.

    Args:
        spec: the operator.
        folder: the new repository.
        math_is_old: whether the repository existed before, with the user's math, which stays.
        math_is_done: whether the math is that of a ready operator.
        workspace: that of a member.
    """
    math = spec.math_file
    does, write = "so far, it copies its first input", "Write the math in"
    if math_is_old:
        does, write = f"{math} is unchanged", "Go on with the math in"
    if math_is_done:
        does, write = "all of it is yours from now on", "The math is in"
    commands = [
        f"cd {shlex.quote(str(workspace or folder))}",
        "python3 -m venv .venv && .venv/bin/pip install -r requirements.lock",
        ".venv/bin/scons check",
    ]
    if workspace:
        inside = shlex.quote(os.path.relpath(folder, workspace))
        back = os.path.relpath(workspace, folder)
        commands[-1:] = [f"cd {inside} && {back}/.venv/bin/scons check"]
    steps = "".join(f"    {command}\n" for command in commands)
    ready = f"{spec.name} is ready. It builds as it is; {does}."
    rest = f"{write} {math} and {spec.lower}_reference.py; README.md has the rest."
    return f"\n{_filled(ready)}\n\n{steps}\n{_filled(rest)}\n"


def _filled(sentence: str) -> str:
    return textwrap.fill(sentence, 80, break_long_words=False, break_on_hyphens=False)
