"""The message after the creation of a repository."""

from __future__ import annotations

import shlex
from pathlib import Path

from opkit.description.spec import OpSpec


def next_steps(spec: OpSpec, folder: Path, math_is_old: bool = False) -> str:
    """Return the next steps.

    Args:
        spec: the operator.
        folder: the new repository.
        math_is_old: whether the repository existed before, with the user's math, which stays.
    """
    math = spec.math_file
    does = "so far, it copies its first input"
    does = f"{math} is unchanged" if math_is_old else does
    write = "Go on with the math" if math_is_old else "Write the math"
    return f"""
{spec.name} is ready. It builds as it is; {does}.

    cd {shlex.quote(str(folder))}
    python3 -m venv .venv && .venv/bin/pip install -r requirements.lock
    .venv/bin/scons check

{write} in {math} and {spec.lower}_reference.py; README.md has the rest.
"""
