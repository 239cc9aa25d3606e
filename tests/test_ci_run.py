"""`.ci/run` and the workflow: programs are installed or named in one line; each test runs once."""

from __future__ import annotations

import itertools
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import NIGHTLY, SLOW
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


def test_workflow_runs_every_test() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    assert jobs["test"]["steps"][-1]["run"] == "bash .ci/run ${{ matrix.tests }}"
    quick, *shards = jobs["test"]["strategy"]["matrix"]["tests"]
    assert shlex.split(quick) == ["-m", f"not {SLOW}"]
    count = len(shards)
    assert shards == [f"-m {SLOW} --shard {number}/{count}" for number in range(1, count + 1)]


def test_nightly_workflow_runs_the_tests_that_the_others_leave_out() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text())["jobs"]
    assert jobs["test"]["steps"][-1]["run"] == f"bash .ci/run --{NIGHTLY} -m {NIGHTLY}"


def run_pytest(*options: str) -> subprocess.CompletedProcess[str]:
    command = ["pytest", "-n", "0", "-q", "--collect-only", "-m", "", *options]
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.usefixtures("xdist")
def test_shards_have_each_test_once() -> None:
    def collected(*options: str) -> list[str]:
        done = run_pytest("tests/compute", *options)
        assert done.returncode == 0, done.stdout + done.stderr
        return [line for line in done.stdout.splitlines() if "::" in line]

    shards = [collected("--shard", f"{number}/3") for number in (1, 2, 3)]
    assert all(shards)
    assert sorted(itertools.chain(*shards)) == sorted(collected())


@pytest.mark.slow
@pytest.mark.usefixtures("xdist")
def test_nightly_tests_are_left_out() -> None:
    file = "tests/models/test_architectures.py"
    named = [run_pytest(file, *options).stdout for options in ((), (f"--{NIGHTLY}",))]
    fewer, all_ = ({line for line in text.splitlines() if "::test_row[" in line} for text in named)
    assert not fewer
    assert len(all_) > 1


@pytest.mark.slow
@pytest.mark.usefixtures("xdist")
@pytest.mark.parametrize("shard", ["0/4", "5/4", "1"])
def test_invalid_shard_is_an_error(shard: str) -> None:
    done = run_pytest("--shard", shard, __file__)
    assert done.returncode == 4
    assert f"invalid '{shard}' (expected K/N with 1 <= K <= N)" in done.stderr
