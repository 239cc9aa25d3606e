"""Macros of the project's command lines are refused as names in a description."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from opkit.description.reader import DescriptionError
from opkit.description.words import taken_by
from opkit.runtimes import parse
from opkit.toolchains.abi import ABIS
from tests.description.test_names import described, files_of
from tests.repositories import generate

_NO_MACROS = ("-c", "-D", "-I", "-MD", "-W", "-f", "-g")
_FILE = re.compile(r"\.(c|cc)$")
_DEFINED = re.compile(r"(?<![\w-])-[DU] ?(\w+)")
_REQUESTS = (
    ("target=all", "check"),
    ("target=all", "sanitize=address,undefined", "check"),
    ("target=all", "toolchain=gnu", "check"),
    ("gdb", "case=xqz_in"),
    ("target=x64-pplnn",),
)


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the command lines of every runtime and target, for this PC, checks and the board."""
    folder = tmp_path_factory.mktemp("flags")
    (folder / "bin").mkdir()
    compilers = [f"{abi.triple}-{name}" for abi in ABIS.values() for name in ("gcc", "g++")]
    for name in ("gcc", "g++", *compilers):
        (folder / "bin" / name).write_text("#!/bin/sh\n")  # found, but not run
        (folder / "bin" / name).chmod(0o755)
    repository = generate(folder, described("Flagged"))
    found: dict[str, None] = {}
    for request in _REQUESTS:
        done = repository.scons("-n", "-Q", "verbose=1", *request, path=str(folder / "bin"))
        assert done.stdout, request
        found.update(dict.fromkeys(done.stdout.splitlines()))
    return [*found]


def free(names: set[str]) -> set[str]:
    """Return the names that a description may have."""
    return {name for name in names if not taken_by(name, "Flagged")}


@pytest.mark.slow
@pytest.mark.nightly
def test_macros_of_command_lines_are_refused(commands: list[str]) -> None:
    files = files_of(parse(described("Flagged")))
    makefiles = [text for path, text in files.items() if path.startswith("makefile")]
    names = {name for text in (*commands, *makefiles) for name in _DEFINED.findall(text)}
    assert {"ZIG_VERSION", "OPKIT_GUARDED", "HARNESS_STATIC", "HARNESS_ADDRESS_SANITIZER"} <= names
    assert free(names) == set()


def predefined(compiler: Sequence[str]) -> set[str]:
    """Return the macros at the beginning of a source."""
    run = subprocess.run(
        [*compiler, "-E", "-dM", "/dev/null"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return set(re.findall(r"^#define (\w+)", run.stdout, re.MULTILINE))


def flags_of(command: str) -> tuple[str, ...]:
    """Return a command that compiles, without files and warnings; empty for other commands."""
    words = shlex.split(command)
    if "-c" not in words or Path(words[0]).name != "zig":
        return ()
    for option in {"-o", "-include", "-MF", "-mllvm"} & {*words}:
        place = words.index(option)
        del words[place : place + 2]
    flags = [word for word in words if not word.startswith(_NO_MACROS) and not _FILE.search(word)]
    return (*flags, "-x", "c++" if words[1] == "c++" else "c")


@pytest.mark.slow
def test_macros_of_compilers_are_refused(commands: list[str]) -> None:
    compilers = {*map(flags_of, commands)} - {()}
    assert len(compilers) > 5
    names = set().union(*map(predefined, compilers))
    assert {"NDEBUG", "__riscv", "__ARM_ARCH"} <= names
    assert free(names) == set()


@pytest.mark.parametrize("name", ["NDEBUG", "ZIG_VERSION", "_FORTIFY_SOURCE", "HARNESS_ENTRY"])
@pytest.mark.parametrize("place", ["operator", "input", "output", "param"])
def test_name_of_a_macro_is_a_mistake(name: str, place: str) -> None:
    text = described("Flagged")
    before = {"operator": "Flagged", "input": "xqz_in", "output": "xqz_out", "param": "xqz_param"}
    with pytest.raises(DescriptionError, match=name):
        parse(text.replace(before[place], name))
