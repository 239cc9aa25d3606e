"""The limit of the user's cache, and machines that share it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from SCons.Script.SConscript import SConsEnvironment

from opkit.build.user_cache import KEPT, trim_folder, user_cache
from opkit.common import file_io
from tests.repositories import Repository, generate

TEXT = """\
name: Shared
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""


def entry(cache: Path, name: str, size: int, age: float) -> Path:
    path = cache / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_oldest_entries_are_deleted(tmp_path: Path) -> None:
    old, older, used = (
        entry(tmp_path, name, 400, age)
        for name, age in {"0A/x": 2 * KEPT, "0B/y": 3 * KEPT, "0A/z": 60}.items()
    )
    unpacked = entry(tmp_path, "opkit/abc/opkit/VERSION", 400, 0).parents[1]
    os.utime(unpacked, (time.time() - 4 * KEPT,) * 2)
    others = [entry(tmp_path, name, 400, 9 * KEPT) for name in ("config", "0A/tmpx/y", "vx/a")]
    assert trim_folder(tmp_path, 1600) == 0
    assert trim_folder(tmp_path, 1599) == 0, "less than an interval after the last time"
    assert trim_folder(tmp_path, 1300, interval=0) == 800
    assert [old.exists(), older.exists(), used.exists(), unpacked.exists()] == [1, 0, 1, 0]
    assert trim_folder(tmp_path, 1, interval=0) == 400
    assert used.exists(), "used less than a day ago"
    assert all(path.exists() for path in others)


def test_one_process_trims(tmp_path: Path) -> None:
    path = entry(tmp_path, "0A/x", 400, 2 * KEPT)
    with file_io.opened_folder(tmp_path) as descriptor:
        assert file_io.try_lock(descriptor)
        assert trim_folder(tmp_path, 1, interval=0) == 0
    assert path.exists()
    assert trim_folder(tmp_path, 1, interval=0) == 400


def test_deleted_entry_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine deletes an entry between SCons' look and its copy."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.c").write_text("int x;\n")
    environment = SConsEnvironment(
        tools=[], TOOLCHAIN="zig", CC=["zig"], verbose=False, cache=str(tmp_path / "cache")
    )
    cached = user_cache(environment)
    (node,) = cached.Command(cached.File("x.o"), "x.c", "cp x.c x.o")
    directory = cached.get_CacheDir()
    _, path = directory.cachepath(node)
    entry(Path("/"), path.lstrip("/"), 10, 0)

    def deleted(*_: object) -> None:
        Path(path).unlink()
        raise FileNotFoundError(path)

    monkeypatch.setattr(directory, "copy_from_cache", deleted)
    assert not directory.retrieve(node)


def test_invalid_limit(copy_of_fresh: Repository) -> None:
    refused = copy_of_fresh.scons("-Q", "cache_limit=1GB", check=False)
    assert refused.returncode == 2
    assert "cache_limit: invalid '1GB' (expected a number of megabytes)" in refused.stderr


@pytest.mark.slow
@pytest.mark.nightly
def test_programs_of_targets_and_sanitizers_are_shared(tmp_path: Path) -> None:
    """The second repository compiles nothing of opkit but main.c, which names the operator."""
    cache = tmp_path / "cache"
    arguments = ("-Q", f"cache={cache}", "sanitize=address", "target=rk3588", "require_target=0")
    made = []
    for name in ("one", "two"):
        repository = generate(tmp_path / name, TEXT)
        path = os.environ["PATH"]
        done = repository.scons(*arguments, "check", path=path).stdout
        made.append({line for line in done.splitlines() if line.startswith("compile ")})
    assert "compile build/check/rknn2-address/harness-main.o" in made[1]
    of_opkit = {line for line in made[0] if "shared" not in line.lower()}
    assert len(of_opkit - made[1]) > 30
    assert not {line for line in made[1] if "shared" not in line and "main.o" not in line}
    for file in cache.rglob("*"):
        assert not file.is_file() or str(tmp_path).encode() not in file.read_bytes(), file
