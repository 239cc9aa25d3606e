"""What scons says of the link that compiles a C library."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from opkit import toolchains
from opkit.build.c_library import FirstLinks, linked_library
from opkit.toolchains.abi import ABIS

LINK = [shlex.quote(toolchains.find("zig", ABIS["armhf"]).command[0]), "cc", "-target"]
ARMHF, STATIC = "arm-linux-gnueabihf.2.17", "arm-linux-musleabihf"


def test_first_link_is_announced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> str:
        FirstLinks(spawn).spawn("sh", None, "", arguments, environment)
        return capsys.readouterr().err

    def spawn(
        shell: str, escape: object, command: str, line: Sequence[str], variables: Mapping[str, str]
    ) -> int:
        return status

    environment = {"ZIG_GLOBAL_CACHE_DIR": str(tmp_path)}
    status = 1
    text = "compiling the C library of armhf, once\n"
    assert run(*LINK, ARMHF, "-o", "x.so") == text
    status = 0
    assert run(*LINK, ARMHF, "-o", "x.so") == text
    assert run(*LINK, ARMHF, "-o", "x.so") == ""
    assert "armhf, for static programs, once" in run(*LINK, STATIC, "-o", "x")
    assert run(*LINK, "aarch64-linux-gnu.2.17", "-c", "-o", "x.o") == ""


def test_which_commands_link() -> None:
    assert linked_library(["zig", "c++", "-target", ARMHF, "-o", "x"]) == ("c++", ARMHF)
    for other in (["gcc"], ["gcc", "-o", "x"], ["zig", "ar"], ["zig", "cc", "-c", "x.c"]):
        assert linked_library(other) is None
