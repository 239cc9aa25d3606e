"""Scratch folders."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from opkit.common.scratch import scratch_folder, whole_folder
from tests.repositories import ROOT

KEEP_ONE = """
import sys
from pathlib import Path
from opkit.common.scratch import scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


def other_process(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a process that keeps a scratch folder until the end of its stdin."""
    process = subprocess.Popen(
        [sys.executable, "-c", KEEP_ONE, str(parent)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_folder_exists_during_body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with scratch_folder(Path("some/parent")) as folder:
        assert folder.is_absolute()
        assert folder.parent == tmp_path / "some/parent"
        (folder / "file").touch()
    with pytest.raises(ValueError, match="of the body"), scratch_folder(Path("some/parent")):
        raise ValueError("of the body")
    assert not [*(tmp_path / "some/parent").iterdir()]


def test_next_process_deletes_folder_of_killed_one(tmp_path: Path) -> None:
    running, its = other_process(tmp_path)
    killed, left = other_process(tmp_path)
    killed.kill()
    killed.communicate()
    assert left.is_dir()
    with scratch_folder(tmp_path) as own:
        assert sorted(tmp_path.iterdir()) == sorted([its, own])
        assert [*its.iterdir()] == [its / "file"]
    running.communicate("")
    assert not [*tmp_path.iterdir()]


def test_concurrent_folders_are_distinct(tmp_path: Path) -> None:
    def use(number: int) -> str:
        with scratch_folder(tmp_path) as folder:
            (folder / "file").write_text(f"{number}")
            with scratch_folder(tmp_path):
                return (folder / "file").read_text()

    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(use, range(200))] == [str(number) for number in range(200)]
    assert not [*tmp_path.iterdir()]


def test_without_locks_nothing_of_others_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(descriptor: int, operation: int) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "flock", refused)
    with scratch_folder(tmp_path) as outer:
        with scratch_folder(tmp_path) as inner:
            assert sorted(tmp_path.iterdir()) == sorted([outer, inner])
        assert [*tmp_path.iterdir()] == [outer]


def test_whole_folder(tmp_path: Path) -> None:
    path = tmp_path / "some/whole"
    filled: list[Path] = []

    def fill(folder: Path) -> None:
        assert not path.exists()
        assert [*folder.iterdir()] == []
        (folder / "file").touch()
        filled.append(folder)

    def fill_slowly(folder: Path) -> None:
        """Make the folder while another process does so, too."""
        assert whole_folder(path, fill) == path
        (folder / "other").touch()

    def fail(folder: Path) -> None:
        fill(folder)
        raise ValueError("of the body")

    with pytest.raises(ValueError, match="of the body"):
        whole_folder(path, fail)
    assert [*path.parent.iterdir()] == []
    assert whole_folder(path, fill_slowly) == whole_folder(path, fail) == path
    assert [*path.parent.rglob("*")] == [path, path / "file"]
    assert len({*filled}) == 2
