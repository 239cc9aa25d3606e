"""`rknn-op update`: a repository gets this version's wheel, and what follows from it."""

from __future__ import annotations

import difflib
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from opkit import manifest, repository, runtimes
from opkit.creation import completion
from opkit.creation.completion import LOCK, REQUIREMENTS
from opkit.creation.wheel import wheel
from opkit.description.file import read_description
from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.files.skeletons import once_only_files
from opkit.version import VERSION
from rknn_op import creation, template
from rknn_op.migration import opkit_folder
from rknn_op.origin import origin
from rknn_op.own_opkit import unpacked
from rknn_op.repositories import require

_CRUFT = ".cruft.json"
_LEFT_ALONE = (".git", ".venv", "build", ".cache")
"""Folders of a repository that no update changes, and that its copy does not need."""


@dataclass(frozen=True)
class Update:
    """What an update changes in a repository.

    Attributes:
        folder: the repository.
        version: of the template, before.
        changed: path -> text before and after, of each file that differs; None: there is none.
        advice: path -> diff of what the template has for a file now; the file is the user's, and
            stays as it is.
    """

    folder: Path
    version: str
    changed: Mapping[str, tuple[str | None, str | None]]
    advice: Mapping[str, str]

    def diff(self) -> str:
        """Return the changes as a unified diff."""
        return "".join(
            _diff(path, before or "", after or "") for path, (before, after) in self.changed.items()
        )


def update(folder: Path, dry_run: bool = False, allow_dirty: bool = False) -> Update:
    """Replace a repository's wheel, and bring its files in line with op.yml.

    The user's files are left alone; those that op.yml newly requires are written. After an
    interruption at any moment, the next run completes it.

    Args:
        folder: the repository.
        dry_run: change nothing.
        allow_dirty: also where git knows of changes that are not committed.

    Raises:
        OpkitError: the folder is not an operator repository, op.yml cannot be used, a newer version
            has written the repository, there are changes that are not committed, or a file of its
            opkit/ was changed.
    """
    require(folder)
    op_yml = folder / "op.yml"
    spec = runtimes.parse(read_description(op_yml), str(op_yml))
    version = repository.read_manifest(folder).version
    if not (dry_run or allow_dirty or _is_interrupted(folder)):
        _refuse_uncommitted(folder)
    if opkit_folder.has_folder(folder):
        opkit_folder.refuse_changed(folder)
    before = _texts(folder)
    skeletons = _own_skeletons(folder)
    if dry_run:
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / "repository"
            shutil.copytree(folder, copy, symlinks=True, ignore=_left_alone_in(folder))
            _replace(copy, spec)
            after = _texts(copy)
    else:
        _replace(folder, spec)
        after = _texts(folder)
    changed = {
        path: (before.get(path), after.get(path))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    }
    return Update(folder, version, changed, _advice(spec, skeletons, after, version != VERSION))


def _replace(folder: Path, spec: OpSpec) -> None:
    """Bring everything to this version.

    What tells of an interruption, the new wheel, is written first, and what an interruption leaves
    is removed last.
    """
    own, data = wheel()
    repository.write_bytes(folder / own.name, data)
    opkit_folder.rewrite_names(folder, template.files(), own)
    completion.write(folder, spec)
    _record(folder, spec)
    completion.remove_other_wheels(folder)
    if opkit_folder.has_folder(folder):
        opkit_folder.remove(folder)


def _is_interrupted(folder: Path) -> bool:
    """Whether an update to this version has begun and not ended."""
    own, _ = wheel()
    if not any(folder.glob(f"*{own.name}*")):  # the whole file, or the beginning of it
        return False
    others = [path for path in folder.glob("rknn_opkit-*.whl") if path.name != own.name]
    is_recorded = repository.read_manifest(folder).wheel == own
    return bool(others) or not is_recorded or opkit_folder.has_folder(folder)


def _record(folder: Path, spec: OpSpec) -> None:
    """Let cruft know, in a repository that it knows, what the repository is made from now."""
    path = folder / _CRUFT
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        answers = state["context"]["cookiecutter"]
        known = origin()
        if known is not None:
            state["template"] = answers["_template"] = known.url
        state["commit"] = known.commit if known else f"v{VERSION}"
        answers["config"] = read_description(folder / "op.yml")
        answers["runtimes"] = ", ".join(spec.runtimes)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return
    repository.write_text(path, creation.cruft_text(state))


def _refuse_uncommitted(folder: Path) -> None:
    """Refuse a repository with changes that are not committed: they would mix with the update's.

    Raises:
        OpkitError: git knows of some.
    """
    try:
        status = subprocess.run(
            ["git", "-C", folder, "status", "--porcelain", "--", "."],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
        )
    except OSError:
        return  # without git there is nothing to know
    lines = status.stdout.splitlines() if status.returncode == 0 else []
    if lines:
        names = ", ".join(line[3:] for line in lines[:3]) + (", ..." if len(lines) > 3 else "")
        raise OpkitError(
            f"{folder}: has changes that are not committed ({names}); commit them, so that what "
            "the update changes can be seen and taken back, or pass --allow-dirty"
        )


def _left_alone_in(folder: Path) -> Callable[[str, list[str]], list[str]]:
    """Return what tells copytree the names of the folders that are not copied."""

    def ignored(directory: str, names: list[str]) -> list[str]:
        # Deeper, such a name is the user's: sources may be in src/build.
        return [name for name in names if name in _LEFT_ALONE] if Path(directory) == folder else []

    return ignored


def _texts(folder: Path) -> dict[str, str]:
    """Return path -> text of every file that is there of those that an update may change."""
    written = repository.read_manifest(folder)
    folders = [path for path in (folder / "opkit").rglob("*") if "__pycache__" not in path.parts]
    wheels = {path.name: f"{_hash(path)}\n" for path in folder.glob("rknn_opkit-*.whl")}
    names = {
        *(path.relative_to(folder).as_posix() for path in folders),
        *(*written.once, *written.generated, *template.files()),
        *(manifest.PATH, _CRUFT, REQUIREMENTS, LOCK, "op.yml"),
    }
    return wheels | {
        name: (folder / name).read_text(encoding="utf-8", errors="replace")
        for name in sorted(names)
        if (folder / name).is_file()
    }


def _hash(path: Path) -> str:
    return f"sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}"


def _advice(
    spec: OpSpec, skeletons: Mapping[str, str], texts: Mapping[str, str], is_older: bool
) -> dict[str, str]:
    """Return path -> diff, for files of the user's, of what the template has for them now.

    Args:
        spec: the operator.
        skeletons: path -> text that the repository's opkit before would write once.
        texts: path -> text of the files after the update.
        is_older: whether an older version wrote the repository, whose copied files may differ too.
    """
    copied = {name: data.decode() for name, data in template.files().items()}
    now = once_only_files(spec, runtimes.selected(spec)) | copied
    old = {**skeletons, **({name: texts.get(name, "") for name in copied} if is_older else {})}
    diffs = {
        name: _diff(name, text, now[name])
        for name, text in old.items()
        if name in now and name in texts
    }
    return {name: diff for name, diff in diffs.items() if diff}


def _own_skeletons(folder: Path) -> dict[str, str]:
    """Return what the repository's own opkit would write once, were it new: path -> text.

    Nothing, if that opkit is not there, or too old or too broken to say so.
    """
    try:
        own = folder if opkit_folder.has_folder(folder) else unpacked(folder)
    except OpkitError:
        return {}
    done = subprocess.run(
        [sys.executable, "-I", "-c", _PRINT_SKELETONS, own.absolute()],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    try:
        texts = json.loads(done.stdout)
        return {str(name): str(text) for name, text in texts.items()}
    except (ValueError, AttributeError):
        return {}


_PRINT_SKELETONS = """
import json, sys
from pathlib import Path
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from opkit import repository, runtimes
from opkit.files.skeletons import once_only_files
spec = repository.load(Path())
print(json.dumps(once_only_files(spec, runtimes.selected(spec))))
"""


def _diff(path: str, before: str, after: str) -> str:
    return "".join(
        difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            f"a/{path}",
            f"b/{path}",
        )
    )
