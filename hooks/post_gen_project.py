"""Complete the new repository from op.yml."""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

sys.dont_write_bytecode = True

# cruft passes no output folder: it generates in temporary folders, so print no next steps.
OPKIT_PARENT = json.loads(r""" {{ opkit_parent | tojson }} """)
RKNN_OP_PARENT = json.loads(r""" {{ rknn_op_parent | tojson }} """)
LEFT_OUT = json.loads(r""" {{ cookiecutter.__extras | default("[]") }} """)
OUTPUT_DIR = json.loads(r""" {{ cookiecutter._output_dir | default("") | tojson }} """)


def main() -> int:
    """Complete the repository and return the exit status."""
    _delete_own_file()
    project = Path.cwd()
    sys.path.insert(0, OPKIT_PARENT)
    sys.path.append(RKNN_OP_PARENT)
    from opkit.common.errors import OpkitError
    from opkit.repository import load
    from rknn_op.creation.plan_report import next_steps
    from rknn_op.creation.wheel import complete
    from rknn_op.template import documentation, of_checkout

    for path in LEFT_OUT:
        (project / path).unlink(missing_ok=True)
        with suppress(OSError):  # has other files
            (project / path).parent.rmdir()
    try:
        spec = load(project)
        was_there = (project / f"{spec.lower}_compute.h").exists()
        complete(project, spec)
        with (project / "README.md").open("a", encoding="utf-8") as readme:
            readme.write(documentation(of_checkout(Path(OPKIT_PARENT))))
    except OpkitError as error:
        print(error, file=sys.stderr)
        return 1
    if OUTPUT_DIR:
        print(next_steps(spec, project, was_there), end="")
    return 0


def _delete_own_file() -> None:
    """Delete this file if it is the temporary copy rendered by cookiecutter."""
    path, temporary = Path(__file__), Path(tempfile.gettempdir())
    if path.parent == temporary and path.name.startswith(tempfile.gettempprefix()):
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    raise SystemExit(main())
