"""`rknn-op` without permission or space to write: one line that names the path."""

from __future__ import annotations

import errno
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

import pytest

from tests.marks import quick_first
from tests.repositories import EXAMPLES, ROOT
from tests.rknn_op.command import assert_error, rknn_op, snapshot, succeeded
from tests.rknn_op.older import add_work, age

EXP = str(EXAMPLES / "exp/exp.yml")
OTHER = str(EXAMPLES / "row_mean/row_mean.yml")
VENDOR = str(ROOT / "tests/data/vendor_repository")

pytestmark = pytest.mark.usefixtures("folder")


@contextmanager
def read_only() -> Iterator[None]:
    """Refuse new folders and files like a read-only file system, also for root."""

    def refuse(path: str | Path, *_: object, **__: object) -> NoReturn:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    def open_to_read(path: Path, mode: str = "r", *arguments: Any, **more: Any) -> IO[Any]:
        return usual(path, mode, *arguments, **more) if "r" in mode else refuse(path)

    usual = Path.open
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "mkdir", refuse)
        patch.setattr(Path, "open", open_to_read)
        yield


@contextmanager
def full() -> Iterator[None]:
    """Limit files to 10,000 bytes: too few for the wheel."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


PLACES = {"Read-only file system": read_only, "File too large": full}
COMMANDS = {
    "made": ("create", "-c", EXP, "-p", "made"),
    "many/Exp": ("create", "-p", "many", "-c", EXP, OTHER),
    "imported": ("import", VENDOR, "-p", "imported"),
    "old": ("update", "old"),
}


@pytest.fixture
def old(folder: Path) -> Path:
    """Return a repository of an older version with a user's work."""
    succeeded("create", "-c", EXP, "-p", "old")
    age(folder / "old")
    add_work(folder / "old")
    return folder / "old"


@pytest.mark.parametrize("problem", PLACES)
@pytest.mark.parametrize("path", quick_first(2, COMMANDS))
def test_message_names_the_path(path: str, problem: str, folder: Path, old: Path) -> None:
    place: Callable[[], AbstractContextManager[None]] = PLACES[problem]
    before = snapshot(folder)
    command = COMMANDS[path]
    with place():
        result = rknn_op(*command)
    assert result.exit_code == 1
    message = result.stderr.splitlines()[0]
    if problem == "Read-only file system":
        path = path.removesuffix("/Exp")  # nothing is made in the folder of all
    assert re.fullmatch(rf"error: {path}(/rknn_opkit\S+)?: cannot be \w+: {problem}", message)
    assert snapshot(folder) == before
    succeeded(*command)


@pytest.mark.parametrize("verb", [("create", "-c", EXP), ("lint",), ("update",), ("check",)])
def test_deleted_current_folder(verb: tuple[str, ...], folder: Path) -> None:
    folder.rmdir()
    assert_error(
        rknn_op(*verb), "the current folder was deleted or replaced; change to an existing"
    )


def test_create_without_home_in_the_c_locale(folder: Path) -> None:
    text = Path(EXP).read_text().replace("name: Exp", "# ü\nname: Exp")
    Path("exp.yml").write_text(text, encoding="utf-8")
    succeeded("create", "-c", "exp.yml", "-p", "usual")
    done = subprocess.run(
        [sys.executable, "-m", "rknn_op", "create", "-c", "exp.yml", "-p", "bare"],
        env={"PYTHONPATH": str(ROOT), "LC_ALL": "C", "PATH": os.environ["PATH"]},
        umask=0o077,
        check=False,
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    made = snapshot(folder / "bare")
    assert (
        made.pop(".cruft.json").replace(b"bare", b"usual")
        == (folder / "usual/.cruft.json").read_bytes()
    )
    expected = snapshot(folder / "usual")
    del expected[".cruft.json"]
    assert {path: text for path, text in made.items() if path != "README.md"} == {
        path: text for path, text in expected.items() if path != "README.md"
    }
    assert not [path for path in folder.rglob("bare/**/*") if path.stat().st_mode & 0o077]
