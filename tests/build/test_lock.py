"""One `scons` at a time in a repository, and its messages where nothing can be written."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from opkit.build import scons_state
from opkit.build.scons_state import Signatures
from opkit.common.errors import OpkitError
from tests.repositories import Repository, installed_opkit


def test_second_scons_waits(fresh: Repository) -> None:
    (fresh.path / scons_state.LOCK).write_text(
        "12345678901234567890\n"
    )  # the id of an ended process
    held = scons_state.acquire_lock(fresh.path)
    waiting = subprocess.Popen(
        [sys.executable, "-m", "SCons", "-Q", "build/x64/libmyoperator.so"],
        cwd=fresh.path,
        env={**os.environ, "PYTHONPATH": installed_opkit()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert waiting.stderr is not None
    line = waiting.stderr.readline()
    assert line == f"waiting for another scons in this repository (pid {os.getpid()})\n"
    assert "up to date" in fresh.scons("-n", "build/x64/libmyoperator.so").stdout
    assert waiting.poll() is None
    os.close(held)
    stdout, stderr = waiting.communicate()
    assert (waiting.returncode, stderr) == (0, "")
    assert "up to date" in stdout


def test_commands_of_a_killed_scons_hold_the_lock(tmp_path: Path) -> None:
    held = scons_state.acquire_lock(tmp_path)
    left_behind = subprocess.Popen(["sleep", "60"], pass_fds=[held])
    os.close(held)
    code = f"from opkit.build.scons_state import *; acquire_lock(Path({str(tmp_path)!r}))"
    environment = {**os.environ, "PYTHONPATH": str(Path(scons_state.__file__).parents[2])}
    waiting = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True
    )
    assert waiting.stderr is not None
    assert "waiting for another scons" in waiting.stderr.readline()
    left_behind.kill()
    left_behind.wait()
    assert waiting.wait() == 0
    waiting.stderr.close()


def test_deleted_lock_is_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A waiting process takes the new lock file if the old one was deleted."""
    flock = fcntl.flock
    path = tmp_path / scons_state.LOCK

    def deleted_meanwhile(descriptor: int, operation: int) -> None:
        flock(descriptor, operation)
        if deleted:
            deleted.pop()
            path.unlink()

    deleted = [True]
    monkeypatch.setattr(fcntl, "flock", deleted_meanwhile)
    held = scons_state.acquire_lock(tmp_path)
    assert os.path.samestat(os.fstat(held), path.stat())
    os.close(held)


def test_no_lock_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "build").touch()
    with pytest.raises(OpkitError, match=rf"{tmp_path}/build/\.lock: cannot be written: "):
        scons_state.acquire_lock(tmp_path)


def test_signatures_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / ".sconsign"
    signatures = Signatures(path)
    signatures["build"] = b"old"
    signatures.sync()
    signatures["build"] = b"new"
    with monkeypatch.context() as patch:

        def full(path: Path, mode: str) -> None:
            path.touch()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        patch.setattr(Path, "open", full)
        with pytest.raises(SystemExit):
            signatures.sync()
    assert capsys.readouterr().err == f"error: {path}: cannot be written: No space left on device\n"
    assert Signatures(path) == {"build": b"old"}
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("damage", [b"", b"garbage", b"\x80\x04\x95\xff"])
def test_damaged_signatures_are_ignored(damage: bytes, tmp_path: Path) -> None:
    (tmp_path / ".sconsign").write_bytes(damage)
    assert Signatures(tmp_path / ".sconsign") == {}
