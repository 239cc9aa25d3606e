"""Migrate repositories of 0.1.0, which have opkit in a folder, not in a wheel.

The folder is removed if all of it is as 0.1.0 wrote it; opkit_folder.json has the hashes of its
files. In the user's files, only the lines that refer to the folder are replaced.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from opkit.creation.requirements import requirements_text
from opkit.creation.schema import MODELINE, MODELINE_0_1
from opkit.errors import OpkitError
from opkit.manifest import Wheel
from opkit.repository_files import refuse_links, write_text

_HASHES = Path(__file__).with_suffix(".json")
_LAST = ("sconstruct.py", "VERSION")
"""Files that identify the folder; its removal deletes them last."""
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
    """Return whether a repository has an opkit folder, or the rest of an interrupted removal."""
    folder = root / "opkit"
    is_known = any((folder / name).is_file() for name in _LAST)
    return is_known or (folder.is_dir() and not any(folder.iterdir()))


def refuse_unknown(root: Path) -> None:
    """Refuse a package `opkit` that is not of 0.1.0: it would hide the wheel's.

    Raises:
        OpkitError: there is one.
    """
    if (root / "opkit/__init__.py").is_file() and not has_folder(root):
        raise OpkitError(
            f"{root / 'opkit'}: hides the opkit of the wheel, and is not of 0.1.0 or later; make "
            f"the repository again (`rknn-op create -c {root / 'op.yml'} -p DIR`), and copy your "
            "files into it"
        )


def refuse_changed(root: Path) -> None:
    """Refuse an opkit folder with changes.

    Raises:
        OpkitError: a file of it was changed or added, or the folder is a link.
    """
    refuse_links(root, "opkit")
    known = json.loads(_HASHES.read_text(encoding="ascii"))
    for path in _files(root):
        name = path.relative_to(root).as_posix()
        if not _is_as_written(path, known.get(name, ())):
            raise OpkitError(
                f"{path}: is not as version 0.1.0 wrote it, and the update would delete it; move "
                f"your change out of opkit/, or restore the file (`git checkout {name}`)"
            )


def rewrite_names(root: Path, template: dict[str, bytes], wheel: Wheel) -> None:
    """Replace the lines of the user's files that refer to the folder.

    Args:
        root: the repository.
        template: path -> content of the files that the template copies.
        wheel: the repository's new wheel.

    Raises:
        OpkitError: a file cannot be written.
    """
    for name, before, after in _replacements(template, wheel):
        path = root / name
        if path.is_file() and before in (text := path.read_text(encoding="utf-8")):
            write_text(root, name, text.replace(before, after))


def remove(root: Path) -> None:
    """Remove the folder, its identifying files last, so that an interrupted run can be repeated.

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
    """Yield a user's file, the text of 0.1.0 in it, and the replacement."""
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
    """Return the files and links of the folder, without bytecode."""
    found = (root / "opkit").rglob("*")
    return sorted(
        path
        for path in found
        if "__pycache__" not in path.parts and (path.is_symlink() or not path.is_dir())
    )


def _is_as_written(path: Path, hashes: Sequence[str]) -> bool:
    """Return whether a file has one of the hashes, given by their first digits."""
    if path.is_symlink() or not path.is_file():
        return False
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return any(digest.startswith(each) for each in hashes)
