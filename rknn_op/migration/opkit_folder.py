"""Repositories of 0.1.0, which have opkit in a folder, not in a wheel.

The folder is removed if all of it is as 0.1.0 wrote it; opkit_folder.json has the hashes of that.
In the user's files only the lines that name something in the folder are replaced.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from opkit import repository
from opkit.creation.requirements import requirements_text
from opkit.creation.schema import MODELINE, MODELINE_0_1
from opkit.errors import OpkitError
from opkit.manifest import Wheel

_HASHES = Path(__file__).with_suffix(".json")
_LAST = ("sconstruct.py", "VERSION")
"""Files of the folder by which it is known, and which its removal leaves until the end."""
_SCONSTRUCT = '''\
"""Builds, checks and packs the operator that op.yml describes; `scons -h` says how."""

import sys
from pathlib import Path

from SCons.Script import Dir

ROOT = Path(Dir("#").abspath)
sys.path.insert(0, str(ROOT))

from opkit.sconstruct import construct

construct(ROOT)
'''
_REQUIREMENTS = (
    "# Yours: what your reference and tests import goes here, below what opkit requires.\n"
)
_WORKFLOW = (
    "# Yours: when the check runs, and where. What it does is in opkit/ci, and comes with opkit.\n"
)
_INSTALL = "python3 -m venv .venv && . .venv/bin/activate && bash opkit/ci/install"


def has_folder(root: Path) -> bool:
    """Whether a repository has opkit in a folder, or what an interrupted removal left of it."""
    folder = root / "opkit"
    is_known = any((folder / name).is_file() for name in _LAST)
    return is_known or (folder.is_dir() and not any(folder.iterdir()))


def refuse_changed(root: Path) -> None:
    """Refuse a repository whose opkit is not as it was written.

    Raises:
        OpkitError: a file of it was changed or added; or it is a link.
    """
    if (root / "opkit").is_symlink():
        raise OpkitError(f"{root / 'opkit'}: is a link; replace it by what it leads to")
    known = json.loads(_HASHES.read_text(encoding="ascii"))
    for path in _files(root):
        name = path.relative_to(root).as_posix()
        if not _is_as_written(path, known.get(name, ())):
            raise OpkitError(
                f"{path}: is not as version 0.1.0 wrote it, and the update would delete it; move "
                f"your change out of opkit/, or restore the file (`git checkout {name}`)"
            )


def rewrite_names(root: Path, template: dict[str, bytes], wheel: Wheel) -> None:
    """Bring what names the folder in the user's files up to date.

    Args:
        root: the repository.
        template: path -> content of the files that the template copies.
        wheel: the repository's from now on.

    Raises:
        OpkitError: a file cannot be written.
    """
    for name, before, after in _replacements(template, wheel):
        path = root / name
        if path.is_file() and before in (text := path.read_text(encoding="utf-8")):
            repository.write_text(path, text.replace(before, after))


def remove(root: Path) -> None:
    """Remove the folder; what it is known by goes last, so that an interrupted run can be repeated.

    Raises:
        OpkitError: it cannot be removed.
    """
    folder = root / "opkit"
    try:
        for path in sorted(folder.iterdir(), key=lambda path: path.name in _LAST):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        folder.rmdir()
    except OSError as error:
        raise OpkitError(f"{folder}: cannot be removed: {error.strerror}") from None


def _replacements(template: dict[str, bytes], wheel: Wheel) -> Iterator[tuple[str, str, str]]:
    """Yield a user's file, what 0.1.0 wrote into it, and what stands there now."""
    container, workflow = ".devcontainer/devcontainer.json", ".github/workflows/ci.yml"
    command = json.loads(template[container])["postCreateCommand"]
    yield "SConstruct", _SCONSTRUCT, template["SConstruct"].decode()
    pinned = requirements_text(wheel)
    yield "requirements.txt", f"{_REQUIREMENTS}-r opkit/requirements.txt\n", pinned
    yield "requirements.txt", "-r opkit/requirements.txt\n", pinned
    yield container, _INSTALL, command
    yield workflow, _WORKFLOW, template[workflow].decode().splitlines(keepends=True)[0]
    yield workflow, "uses: ./opkit/ci\n", "uses: ./.github/actions/operator\n"
    yield ".gitattributes", "/opkit/** linguist-vendored\n", "*.whl binary linguist-generated\n"
    yield "op.yml", MODELINE_0_1, MODELINE


def _files(root: Path) -> list[Path]:
    """Return the files and links of the folder; bytecode is nobody's."""
    found = (root / "opkit").rglob("*")
    return sorted(
        path
        for path in found
        if "__pycache__" not in path.parts and (path.is_symlink() or not path.is_dir())
    )


def _is_as_written(path: Path, hashes: Sequence[str]) -> bool:
    """Whether a file has one of these hashes, of which only the first digits are given."""
    if path.is_symlink() or not path.is_file():
        return False
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return any(digest.startswith(each) for each in hashes)
