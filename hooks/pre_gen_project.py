"""Checks the description again: a replayed run asks no questions, so nothing has checked it.

The folder's name is not checked here: when a hook fails, cookiecutter deletes the folder, which for
a name like `../other` is not cookiecutter's. rknn_op_template.py refuses it before a folder exists.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

OPKIT_PARENT = json.loads(r""" {{ opkit_parent | tojson }} """)
DESCRIPTION = json.loads(r""" {{ cookiecutter.__description | tojson }} """)


def main() -> int:
    """Return the exit status: 0 when the description can be used."""
    _delete_own_file()
    # cruft's update of a repository of 0.1.0 has that version's parent, which is a folder below.
    is_of_0_1 = not (Path(OPKIT_PARENT) / "opkit").is_dir()
    sys.path.insert(0, str(Path(OPKIT_PARENT).parent) if is_of_0_1 else OPKIT_PARENT)
    from opkit.errors import OpkitError
    from opkit.runtimes import parse

    try:
        parse(DESCRIPTION)
    except OpkitError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _delete_own_file() -> None:
    """Delete this file, if it is the rendered copy that cookiecutter leaves behind."""
    path, temporary = Path(__file__), Path(tempfile.gettempdir())
    if path.parent == temporary and path.name.startswith(tempfile.gettempprefix()):
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    raise SystemExit(main())
