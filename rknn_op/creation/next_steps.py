"""The message after the creation of a repository."""

from __future__ import annotations

import os
import shlex
import textwrap
from pathlib import Path

from opkit.description.spec import OpSpec


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
