"""The message of scons about the link that compiles a C library."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from opkit.build.compiler_output import Output, linked_library

ARMHF, STATIC = "arm-linux-gnueabihf.2.17", "arm-linux-musleabihf"


def make_zig(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "zig"
    program.write_text('#!/bin/sh\n[ "$1" = version ] && echo 0.15.1 || exit $STATUS\n')
    program.chmod(0o755)


def test_first_link_is_announced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_zig(tmp_path)
    link = (shlex.quote(str(tmp_path / "zig")), "cc", "-target")

    def run(*arguments: str, status: int = 0) -> str:
        environment = {"ZIG_GLOBAL_CACHE_DIR": str(tmp_path), "STATUS": str(status)}
        assert Output().spawn("/bin/sh", None, "", arguments, environment) == status
        return capsys.readouterr().err

    text = "compiling the C library of armhf, once\n"
    assert run(*link, ARMHF, "-o", "x.so", status=1) == text
    assert run(*link, ARMHF, "-o", "x.so") == text
    assert run(*link, ARMHF, "-o", "x.so") == ""
    assert "armhf, for static programs, once" in run(*link, STATIC, "-o", "x")
    assert run(*link, "aarch64-linux-gnu.2.17", "-c", "-o", "x.o") == ""


def test_each_zig_has_its_own_libraries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zigs at the same path relative to their repositories count as one."""

    def announced(repository: str, zig: str) -> bool:
        make_zig((tmp_path / repository / zig).parent)
        monkeypatch.chdir(tmp_path / repository)
        link = (shlex.quote(str(tmp_path / repository / zig)), "cc", "-target", ARMHF, "-o", "x")
        environment = {"ZIG_GLOBAL_CACHE_DIR": str(tmp_path), "STATUS": "0"}
        assert Output().spawn("/bin/sh", None, "", link, environment) == 0
        return "compiling" in capsys.readouterr().err

    assert announced("one", ".venv/zig")
    assert not announced("two", ".venv/zig")
    assert announced("two", "environment/zig")
    assert announced("three", "../shared/zig")
    assert not announced("four", "../shared/zig")


def test_which_commands_link() -> None:
    assert linked_library(["zig", "c++", "-target", ARMHF, "-o", "x"]) == ("c++", ARMHF)
    for other in (["gcc"], ["gcc", "-o", "x"], ["zig", "ar"], ["zig", "cc", "-c", "x.c"]):
        assert linked_library(other) is None
