"""`.ci/run` installs its programs as root, by sudo, or names them in one line."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.repositories import ROOT


@pytest.mark.parametrize(("user", "installer"), [(0, "apt-get"), (1000, "sudo"), (1000, "")])
def test_missing_programs(user: int, installer: str, tmp_path: Path) -> None:
    for name in ("bash", "dirname", "which"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    stubs = {"id": f"echo {user}", installer: 'echo "$0 $@"; exit 3'}
    for name in filter(None, stubs):
        (tmp_path / name).write_text(f"#!/bin/sh\n{stubs[name]}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["bash", ROOT / ".ci/run"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    if installer in ("apt-get", "sudo"):
        assert done.returncode == 3
        command = " apt-get update" if user else " update"
        assert done.stdout == f"{tmp_path}/{installer}{command} -qq\n"
        assert done.stderr == ""
    else:
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("error: there is no sudo; run as root: apt-get install ")
        assert done.stderr.count("\n") == 1
        assert "qemu-user-static" in done.stderr
