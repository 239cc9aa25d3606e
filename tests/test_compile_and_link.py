"""How scons compiles and links a kernel: what it costs, what it refuses, what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repositories import Repository, generate


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def compute(repository: Repository, statements: str) -> None:
    """Write statements before the last one of the operator's math."""
    edit(repository.path / "myoperator_compute.h", "return NULL;", f"{statements}\n    return NULL;")


def run_time_libraries(cache: Path) -> set[str]:
    """Return which run-time libraries zig has compiled into its cache."""
    return {path.name for path in cache.glob("o/*/lib*_rt*")}


def test_link_without_run_time_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """zig's own is compiled for each ABI, and takes most of a first build."""
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(tmp_path / "zig"))
    repository = generate(tmp_path)
    repository.scons("target=all")
    repository.scons("target=x64")
    assert run_time_libraries(tmp_path / "zig") == set()
    # A processor without an instruction for it divides 64 bits by a function of that library.
    compute(repository, "    volatile long long n = 7; n /= n + 3;")
    repository.scons("build/armhf/libmyoperator.so")
    assert run_time_libraries(tmp_path / "zig") == {"libcompiler_rt.a"}
