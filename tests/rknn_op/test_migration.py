"""`rknn-op update` of a repository of 0.1.0, with opkit in a folder."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from opkit import atomic_file, manifest
from opkit.errors import OpkitError
from rknn_op.migration import opkit_folder
from tests.repositories import EXAMPLES
from tests.rknn_op.command import assert_error, rknn_op, snapshot
from tests.rknn_op.test_update import git

OPKIT = {
    "opkit/VERSION": "0.1.0\n",
    "opkit/__init__.py": "",
    "opkit/ci/action.yml": "name: operator\n",
    "opkit/compute/half.h": "/* Half. */\n",
    "opkit/requirements.txt": "numpy\n",
    "opkit/sconstruct.py": "def construct(root): ...\n",
}
SCONSTRUCT = '''\
"""Builds, checks and packs the operator that op.yml describes; `scons -h` says how."""

import sys
from pathlib import Path

from SCons.Script import Dir

ROOT = Path(Dir("#").abspath)
sys.path.insert(0, str(ROOT))

from opkit.sconstruct import construct

construct(ROOT)
'''
REQUIREMENTS = """\
# Yours: what your reference and tests import goes here, below what opkit requires.
-r opkit/requirements.txt
scipy
"""
CONTAINER = """\
{
  "name": "operator",
  "image": "python:3.12",
  "postCreateCommand": "python3 -m venv .venv && . .venv/bin/activate && bash opkit/ci/install"
}
"""
NEW = ("include", "docs", ".github/actions", "generated/op.schema.json", "generated/openvx_stub.c")
REPLACED = {
    # A file of today -> its text, and the text in 0.1.0.
    ".github/workflows/ci.yml": ("./.github/actions/operator\n", "./opkit/ci\n"),
    "op.yml": ("$schema=generated/op.schema.json\n", "$schema=opkit/op.schema.json\n"),
    "README.md": ("docs/cases.md", "opkit/docs/cases.md"),
}


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of this version; do not change it."""
    path = tmp_path_factory.mktemp("now") / "exp"
    done = rknn_op("create", "-c", str(EXAMPLES / "exp/exp.yml"), "-p", str(path))
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture
def old(now: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository in the form of 0.1.0, with a line of the user in requirements.txt."""
    path = tmp_path / "exp"
    shutil.copytree(now, path)
    _remove_new_files(path)
    texts = {
        **OPKIT,
        "SConstruct": SCONSTRUCT,
        "requirements.txt": REQUIREMENTS,
        "requirements.lock": "-r opkit/requirements.lock\n",
        ".devcontainer/devcontainer.json": CONTAINER,
        ".gitattributes": "* text=auto eol=lf\n/opkit/** linguist-vendored\n",
    }
    for name, text in texts.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    for name, (today, before) in REPLACED.items():
        text = (path / name).read_text()
        assert today in text
        (path / name).write_text(text.replace(today, before))
    hashes = {name: [hashlib.sha256(text.encode()).hexdigest()] for name, text in OPKIT.items()}
    table = tmp_path / "hashes.json"
    table.write_text(json.dumps(hashes))
    monkeypatch.setattr(opkit_folder, "_HASHES", table)
    return path


def _remove_new_files(path: Path) -> None:
    """Remove the files that repositories have since 0.2.0."""
    content = json.loads((path / manifest.PATH).read_text())
    (path / content.pop("wheel")["name"]).unlink()
    content["version"] = "0.1.0"
    content["generated"] = [each for each in content["generated"] if not each.startswith(NEW)]
    (path / manifest.PATH).write_text(json.dumps(content))
    for name in NEW:
        if (path / name).is_dir():
            shutil.rmtree(path / name)
        else:
            (path / name).unlink()


def migrated(now: Path, old: Path) -> dict[str, bytes]:
    """Return the result of the update: today's files, with the user's own unchanged."""
    expected = snapshot(now)
    own = expected["requirements.txt"]
    expected["requirements.txt"] = own + b"scipy\n"
    expected["README.md"] = (old / "README.md").read_bytes()
    expected[".gitattributes"] = b"* text=auto eol=lf\n*.whl binary linguist-generated\n"
    once = json.loads((old / manifest.PATH).read_text())["written once"]
    content = json.loads(expected[manifest.PATH]) | {"written once": once}
    expected[manifest.PATH] = (json.dumps(content, indent=2) + "\n").encode()
    return expected


def test_migration(old: Path, now: Path) -> None:
    expected = migrated(now, old)
    before = snapshot(old)
    planned = rknn_op("update", "--dry-run", str(old))
    assert snapshot(old) == before
    done = rknn_op("update", str(old))
    assert done.exit_code == 0, done.output
    assert done.stdout == planned.stdout
    assert snapshot(old) == expected
    assert not (old / "opkit").exists()
    assert f"  opkit/: {len(OPKIT)} deleted\n" in done.stdout
    assert "SConstruct is yours and stays" not in done.stdout
    assert rknn_op("update", str(old)).stdout.endswith(": up to date with 0.2.0\n")


def test_bytecode_is_not_a_change(old: Path) -> None:
    (old / "opkit/__pycache__").mkdir()
    (old / "opkit/__pycache__/sconstruct.cpython-310.pyc").write_bytes(b"")
    assert rknn_op("update", str(old)).exit_code == 0
    assert not (old / "opkit").exists()


def test_changed_lines_of_the_user_stay(old: Path) -> None:
    (old / "SConstruct").write_text(f"{SCONSTRUCT}print('mine')\n")
    (old / "requirements.txt").write_text("scipy\n")
    done = rknn_op("update", str(old))
    assert (old / "SConstruct").read_text().endswith("print('mine')\n")
    assert (old / "requirements.txt").read_text().endswith("\nscipy\n")
    assert "opkit/" not in (old / "requirements.txt").read_text()
    assert done.exit_code == 0


def link(path: Path) -> None:
    path.unlink()
    path.symlink_to("../op.yml")


CHANGES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "changed": ("opkit/compute/half.h", lambda path: path.write_text("/* Mine. */\n")),
    "added": ("opkit/compute/mine.h", lambda path: path.write_text("/* Mine. */\n")),
    "link": ("opkit/compute/half.h", link),
    "link to folder": ("opkit/mine", lambda path: path.symlink_to("../tests")),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("arguments", [[], ["--dry-run"]])
def test_changed_opkit_is_refused(old: Path, change: str, arguments: list[str]) -> None:
    name, apply = CHANGES[change]
    apply(old / name)
    before = snapshot(old)
    refused = rknn_op("update", *arguments, str(old))
    assert_error(refused, f"{old / name}: is not as version 0.1.0 wrote it", "move your change out")
    assert snapshot(old) == before


def test_linked_opkit_is_refused(old: Path, tmp_path: Path) -> None:
    (old / "opkit").rename(tmp_path / "shared")
    (old / "opkit").symlink_to(tmp_path / "shared")
    assert_error(rknn_op("update", str(old)), f"opkit: is a link to {tmp_path / 'shared'}; ")
    assert (tmp_path / "shared/VERSION").is_file()


@pytest.mark.slow
def test_interrupted_migration_is_completed(
    old: Path, now: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run completes an update stopped after any change of a file, in any state of git."""
    expected = migrated(now, old)
    git(old, "init", "-q")
    git(old, "add", "-A")
    git(old, "commit", "-q", "-m", "all")
    steps = 0
    while True:
        path = tmp_path / f"{steps}" / "exp"
        shutil.copytree(old, path)
        with monkeypatch.context() as patch:
            counter = Countdown(steps)
            for owner, name in CALLS:
                patch.setattr(owner, name, counter.counted(getattr(owner, name)))
            done = rknn_op("update", str(path))
        if done.exit_code == 0:
            break
        assert "no room left" in done.stderr
        again = rknn_op("update", str(path))
        assert again.exit_code == 0, (steps, again.stderr)
        assert without_git(path) == expected, steps
        assert not (path / "opkit").exists()
        steps += 1
    assert steps > len(OPKIT)


CALLS = [(atomic_file, "write"), (Path, "unlink"), (Path, "rmdir"), (shutil, "rmtree")]
"""The functions that change a file or a folder."""


class Countdown:
    """A fault: some calls pass, and the next one fails."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def counted(self, function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            self.left -= 1
            if self.left < 0:
                raise OpkitError("no room left")
            return function(*arguments, **options)

        return call


def without_git(path: Path) -> dict[str, bytes]:
    return {name: data for name, data in snapshot(path).items() if not name.startswith(".git/")}
