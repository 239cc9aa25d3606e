"""Repositories of old commits, and of all tags, become those of this version."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.check.target_repositories import need
from tests.repositories import ROOT
from tests.rknn_op.command import assert_error, rknn_op, snapshot

TEXT = """\
name: Zoom
framework: tensorflow
target_platform: RV1126
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
params: {size: {type: VX_TYPE_ARRAY, length: 2}}
"""
OLD = {
    "541c4f9fa72c": "0.1.0, with opkit as a folder",
    "1e2bb92fe2b2": "the first wheels",
    "ae5915980506": "wheels without the copied files",
    "48d6ebfb7861": "the operator library",
}
"""Commit -> what its repositories have."""
BEFORE_0_1 = "561774b15f7e"


def commits() -> list[str]:
    """Return the old commits, and the tags."""
    if shutil.which("git") is None:
        return [*OLD]
    done = subprocess.run(["git", "tag"], cwd=ROOT, capture_output=True, text=True, check=False)
    return [*OLD, *done.stdout.split()]


def made_by(commit: str, folder: Path) -> Path:
    """Return a repository that an old commit has made, with a line of the user's."""
    need("git", "git")
    done = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this clone lacks the old commits: git fetch --unshallow")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder / "old", filter="data")
    (folder / "zoom.yml").write_text(TEXT)
    subprocess.run(
        [sys.executable, "-m", "rknn_op", "create", "-c", "zoom.yml", "-p", "Zoom"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "old")},
        check=True,
        capture_output=True,
    )
    sconstruct = folder / "Zoom/SConstruct"
    sconstruct.write_text(f"{sconstruct.read_text()}# Mine.\n")
    return folder / "Zoom"


@pytest.mark.slow
@pytest.mark.parametrize("commit", commits())
def test_update(commit: str, tmp_path: Path) -> None:
    old = made_by(commit, tmp_path)
    before = snapshot(old)
    shown = rknn_op("update", "--diff", str(old))
    assert (shown.exit_code, snapshot(old)) == (0, before)
    done = rknn_op("update", "--merge", str(old))
    assert done.exit_code == 0, done.output
    assert rknn_op("lint", str(old)).stderr == "no problems\n"
    (tmp_path / "now.yml").write_text((old / "op.yml").read_text())
    assert (
        rknn_op("create", "-c", str(tmp_path / "now.yml"), "-p", f"{tmp_path}/Now").exit_code == 0
    )
    now, after = snapshot(tmp_path / "Now"), snapshot(old)
    generated = {path for path in now if path.startswith(("generated/", "include/"))}
    assert {path for path in generated if after[path] != now[path]} <= {"generated/manifest.json"}
    assert {path for path in after if path.startswith(("generated/", "include/"))} == generated
    assert {path for path in after if path.endswith(".whl")} == {
        path for path in now if path.endswith(".whl")
    }
    assert b"from opkit.sconstruct import construct" in after["SConstruct"]
    assert after["SConstruct"].endswith(b"# Mine.\n")


def test_before_0_1(tmp_path: Path) -> None:
    """Nothing of such a repository would use the new wheel."""
    old = made_by(BEFORE_0_1, tmp_path)
    before = snapshot(old)
    assert_error(rknn_op("update", str(old)), "opkit: hides the opkit of the wheel", "create -c")
    assert snapshot(old) == before
