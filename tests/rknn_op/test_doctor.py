"""`rknn-op doctor`: a table of the tools, with remedies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.repositories import Repository
from tests.rknn_op.command import rknn_op, snapshot, succeeded


def _states(*arguments: str) -> dict[str, dict[str, str]]:
    found = json.loads(rknn_op("doctor", "--json", *arguments).stdout)
    return {each["part"]: each for each in found}


@pytest.mark.slow
def test_tools_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = succeeded("doctor")
    found = _states()
    for part in ("rknn-op", "Python", "numpy", "SCons", "zig", "user's cache", "zig's cache"):
        assert found[part]["state"] == "ok"
        assert f"\n{part}" in f"\n{done.stdout}"
    assert found["RKNN-Toolkit2"]["state"] == "optional"
    assert "pip install rknn-toolkit2" in found["RKNN-Toolkit2"]["action"]
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_absent_tools_have_a_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = _states("-p", str(tmp_path))
    assert found["qemu, aarch64"]["action"].startswith("apt install qemu-user-static")
    assert found["git"]["action"].startswith("apt install git")
    assert all(bool(each["action"]) == (each["state"] != "ok") for each in found.values())


@pytest.mark.slow
def test_toolkit_without_the_package(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    assert "not installed" in _states("--toolkit", str(python))["RKNN-Toolkit2"]["action"]
    python.write_text("#!/bin/sh\necho 2.5.0\n")
    found = _states("--toolkit", str(python))["RKNN-Toolkit2"]
    assert (found["state"], found["found"]) == ("ok", f"2.5.0, {python}")


@pytest.mark.slow
def test_repository(fresh: Repository) -> None:
    before = snapshot(fresh.path)
    assert _states("-p", str(fresh.path))["repository"]["state"] == "ok"
    assert snapshot(fresh.path) == before


@pytest.mark.slow
def test_incomplete_repository(copy_of_fresh: Repository) -> None:
    path = str(copy_of_fresh.path)
    (copy_of_fresh.path / "myoperator_compute.h").unlink()
    done = rknn_op("doctor", "-p", path)
    assert done.exit_code == 1
    assert f"rknn-op lint {path}" in " ".join(done.stdout.split())
