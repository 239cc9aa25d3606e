"""New operators by name, first commits and merged updates in workspaces."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from opkit import manifest
from opkit.creation.wheel import wheel
from tests.check.target_repositories import need
from tests.rknn_op.command import assert_error, rknn_op

OLD = "rknn_opkit-0.1.9+0123456789ab-py3-none-any.whl"


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a new workspace with a first commit and one operator, made by its name."""
    need("git", "git")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ann@acme")
    folder = tmp_path / "team"
    done = rknn_op("create", "One", "--yes", "--workspace", str(folder), "--git")
    assert done.exit_code == 0, done.output
    return folder


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True)
    return done.stdout


def test_new_operator_by_name(ws: Path) -> None:
    """The workspace has one repository of git; a later operator does not get its own."""
    assert git(ws, "log", "--format=%s").startswith("Create team with rknn-op ")
    assert git(ws, "status", "--porcelain") == ""
    assert not (ws / "One" / wheel()[0].name).exists()
    assert_error(
        rknn_op("create", "Two", "--yes", "--workspace", str(ws), "--git"),
        "is in the git repository",
    )
    assert not (ws / "Two").exists()
    done = rknn_op("create", "Two", "--yes", "--workspace", str(ws))
    assert done.exit_code == 0, done.output
    assert (ws / "Two/op.yml").is_file()
    assert_error(
        rknn_op("create", "Two", "--yes", "--workspace", str(ws)), f"{ws}/Two already exists"
    )


def test_rename_and_doctor(ws: Path) -> None:
    """The lines of a member's README.md are those of the template, with its paths."""
    assert rknn_op("doctor", "-p", str(ws)).stdout.count("workspace") == 1
    done = rknn_op("rename", "Other", "-p", str(ws / "One"))
    assert done.exit_code == 0, done.output
    assert "The old name is still" not in done.stdout
    assert "Other.rknnop" in (ws / "One/README.md").read_text()
    assert rknn_op("lint", str(ws)).stderr == "no problems\n"
    (ws / "One/other_compute.h").unlink()
    broken = rknn_op("doctor", "-p", str(ws))
    assert broken.exit_code == 1
    assert "1 problem" in broken.stdout


def test_merged_update(ws: Path) -> None:
    """The texts of a member are compared, with its paths of shared files."""
    text = (ws / "One/SConstruct").read_text()
    assert "-r ../requirements.txt" in text
    _age(ws, "opkit/copied/SConstruct")
    (ws / "One/SConstruct").write_text(f"# Older.\n{text}# Mine.\n")
    git(ws, "add", "--all")
    git(ws, "commit", "--quiet", "--message", "old")
    dry = rknn_op("update", "--diff", str(ws))
    assert "SConstruct is yours and stays" in dry.stdout
    assert "requirements.txt" not in dry.stdout.partition("SConstruct is yours")[2]
    assert git(ws, "status", "--porcelain") == ""
    done = rknn_op("update", "--merge", str(ws))
    assert done.exit_code == 0, done.output
    assert (ws / "One/SConstruct").read_text() == f"{text}# Mine.\n"
    assert not (ws / "One/.gitignore").exists()
    assert rknn_op("update", str(ws)).stdout.count("up to date") == 2


def _age(ws: Path, name: str) -> None:
    """Turn the wheel into an older one, with another text of a file."""
    own, data = wheel()
    older = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(older, "w") as target:
        for entry in source.infolist():
            more = b"# Older.\n" if entry.filename == name else b""
            target.writestr(entry, more + source.read(entry))
    (ws / own.name).unlink()
    (ws / OLD).write_bytes(older.getvalue())
    file = ws / "One" / manifest.PATH
    content = json.loads(file.read_text())
    content["wheel"] = {"name": OLD, "sha256": hashlib.sha256(older.getvalue()).hexdigest()}
    file.write_text(json.dumps(content | {"version": "0.1.9"}))
