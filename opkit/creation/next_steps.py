"""The message after the creation of a repository."""

from __future__ import annotations

import shlex
from pathlib import Path

from opkit.description.spec import OpSpec


def next_steps(
    spec: OpSpec, folder: Path, math_is_old: bool = False, math_is_done: bool = False
) -> str:
    """Return the next steps.

    Args:
        spec: the operator.
        folder: the new repository.
        math_is_old: whether the repository existed before, with the user's math, which stays.
        math_is_done: whether the math is that of a ready operator.
    """
    math = spec.math_file
    does, write = "so far, it copies its first input", "Write the math in"
    if math_is_old:
        does, write = f"{math} is unchanged", "Go on with the math in"
    if math_is_done:
        does, write = "all of it is yours from now on", "The math is in"
    return f"""
{spec.name} is ready. It builds as it is; {does}.

    cd {shlex.quote(str(folder))}
    python3 -m venv .venv && .venv/bin/pip install -r requirements.lock
    .venv/bin/scons check

{write} {math} and {spec.lower}_reference.py; README.md has the rest.
"""
