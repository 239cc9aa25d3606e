"""The skeletons of an older version, for a diff with those of this version.

Only text templates are read from the repository's wheel. They are data, which this version's code
renders: no code of the repository is executed.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from opkit import repository
from opkit.errors import OpkitError
from opkit.scratch import temporary_folder
from rknn_op import own_opkit, template
from rknn_op.creation.wheel import COPIED, wheel


def old_skeletons(root: Path, description: str) -> dict[str, str]:
    """Return path -> text of the skeletons with the templates of a repository's wheel.

    Changes in the code around the templates are not in these texts. Empty if the wheel is missing
    or invalid, if all its templates are this version's, if their placeholders are other ones, or
    without space for a temporary folder.

    Args:
        root: the repository.
        description: the text of its op.yml.
    """
    with zipfile.ZipFile(io.BytesIO(wheel()[1])) as archive:
        names = [name for name in archive.namelist() if "/templates/" in name]
        now = {name: archive.read(name).decode() for name in names}
        found = _texts(root, now)
        changed = {name: text for name, text in found.items() if text != now[name]}
        if not changed:
            return {}
        # The texts are only advice: a full disk does not stop the update here.
        with suppress(OSError), temporary_folder() as folder:
            archive.extractall(folder)
            for name, text in changed.items():
                (folder / name).write_text(text, encoding="utf-8", newline="")
            return _rendered(folder, description)
    return {}


def old_copied_files(root: Path) -> dict[str, str] | None:
    """Return path -> text of the files that the repository's version copied from the template.

    None if its wheel does not have them, or is missing or invalid.
    """
    names = {f"{COPIED}/{path}": path for path in template.files()}
    found = _texts(root, names)
    return {names[name]: text for name, text in found.items()} if found else None


def _texts(root: Path, names: Collection[str]) -> Mapping[str, str]:
    """Return name -> text of entries of a repository's wheel; empty if it cannot be read."""
    try:
        return own_opkit.texts(own_opkit.content(root, repository.own_wheel(root)), names)
    except OpkitError:
        return {}


def _rendered(opkit: Path, description: str) -> dict[str, str]:
    """Return the skeletons of an opkit in a folder; empty if its templates do not fit its code."""
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", _PRINT_SKELETONS, opkit],
        cwd=opkit,
        input=description,
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    return dict(json.loads(done.stdout)) if done.returncode == 0 else {}


_PRINT_SKELETONS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from opkit import runtimes
from opkit.files.skeletons import once_only_files
spec = runtimes.parse(sys.stdin.buffer.read().decode(), "op.yml")
print(json.dumps(once_only_files(spec, runtimes.selected(spec))))
"""
