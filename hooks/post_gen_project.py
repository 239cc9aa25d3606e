"""Completes the new repository from op.yml, with the repository's own opkit."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True

# cruft gives no output folder: it makes its projects in temporary ones, where no next steps follow.
OUTPUT_DIR = json.loads(r""" {{ cookiecutter._output_dir | default("") | tojson }} """)


def next_steps(name: str, lower: str, project: Path) -> str:
    """Return the next steps.

    Args:
        name: the operator's name.
        lower: the same in lower case.
        project: the new repository.
    """
    folder = shlex.quote(str(project))
    return f"""
{name} is ready. It builds as it is; what it does so far is copy its first input.

    cd {folder}
    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/scons check

Write the math in {lower}_compute.h and {lower}_reference.py; README.md says the rest.
"""


def main() -> int:
    """Complete the repository and return the exit status."""
    project = Path.cwd()
    sys.path.insert(0, str(project))
    from opkit.errors import OpkitError
    from opkit.repository import update

    # An installed template holds bytecode of opkit, which was copied with the rest.
    for cache in [*project.rglob("__pycache__")]:
        shutil.rmtree(cache)
    try:
        spec = update(project)
    except OpkitError as error:
        print(error, file=sys.stderr)
        return 1
    if OUTPUT_DIR:
        print(next_steps(spec.name, spec.lower, project), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
