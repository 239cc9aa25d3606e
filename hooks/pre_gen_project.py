"""Check the description again: a replayed run skips the questions, and their checks.

The folder's name is not checked here: when a hook fails, cookiecutter deletes the folder, and with
a name like `../other` it would delete another one. rknn_op_template.py refuses such names earlier.
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
    """Check the description and return the exit status."""
    _delete_own_file()
    sys.path.insert(0, OPKIT_PARENT)
    from opkit.common.errors import OpkitError
    from opkit.runtimes import parse

    try:
        parse(DESCRIPTION)
    except OpkitError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _delete_own_file() -> None:
    """Delete this file if it is the temporary copy rendered by cookiecutter."""
    path, temporary = Path(__file__), Path(tempfile.gettempdir())
    if path.parent == temporary and path.name.startswith(tempfile.gettempprefix()):
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    raise SystemExit(main())
