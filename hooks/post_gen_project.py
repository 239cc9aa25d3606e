"""Completes the new repository from op.yml, with the repository's own opkit."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

# cruft gives no output folder: it makes its projects in temporary ones, where no next steps follow.
OUTPUT_DIR = json.loads(r""" {{ cookiecutter._output_dir | default("") | tojson }} """)


def main() -> int:
    """Complete the repository and return the exit status."""
    _delete_own_file()
    project = Path.cwd()
    sys.path.insert(0, str(project))
    from opkit.errors import OpkitError
    from opkit.files.next_steps import next_steps
    from opkit.repository import load, write

    # An installed template holds bytecode of opkit, which was copied with the rest.
    for cache in [*project.rglob("__pycache__")]:
        shutil.rmtree(cache)
    try:
        spec = load(project)
        was_there = (project / f"{spec.lower}_compute.h").exists()
        write(project, spec)
    except OpkitError as error:
        print(error, file=sys.stderr)
        return 1
    if OUTPUT_DIR:
        print(next_steps(spec, project, was_there), end="")
    return 0


def _delete_own_file() -> None:
    """Delete this file, if it is the rendered copy that cookiecutter leaves behind."""
    path, temporary = Path(__file__), Path(tempfile.gettempdir())
    if path.parent == temporary and path.name.startswith(tempfile.gettempprefix()):
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    raise SystemExit(main())
