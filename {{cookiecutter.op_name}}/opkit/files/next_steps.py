"""What is printed when a repository is new."""

from __future__ import annotations

import shlex
from pathlib import Path

from opkit.description.spec import OpSpec


def next_steps(spec: OpSpec, folder: Path) -> str:
    """Return the next steps.

    Args:
        spec: the operator.
        folder: the new repository.
    """
    return f"""
{spec.name} is ready. It builds as it is; what it does so far is copy its first input.

    cd {shlex.quote(str(folder))}
    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/scons check

Write the math in {spec.lower}_compute.h and {spec.lower}_reference.py; README.md says the rest.
"""
