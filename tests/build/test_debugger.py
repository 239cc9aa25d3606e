"""`scons gdb`: the CPU kernel in a debugger, in one case."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.check.target_repositories import need
from tests.repositories import Repository

CASE = "case=7x31-uniform(-18,12)"


@pytest.fixture(scope="module")
def repository(
    example: Callable[..., Repository], tmp_path_factory: pytest.TempPathFactory
) -> Repository:
    """Return a copy of the built repository of Exp, in a folder with a space in its name."""
    path = tmp_path_factory.mktemp("my operators") / "Exp"
    shutil.copytree(example("exp", "rknn").path, path)
    return Repository(path)


def command(repository: Repository) -> list[str]:
    return shlex.split(repository.scons("-Q", "gdb", CASE).stdout.splitlines()[-1])


def debug(repository: Repository, commands: str) -> str:
    """Return gdb's output for typed commands."""
    gdb = command(repository)
    run = subprocess.run(
        [gdb[0], "-nx", *gdb[1:]], input=commands, capture_output=True, text=True, check=True
    )
    return run.stdout


@pytest.mark.slow
def test_gdb_command_is_printed(repository: Repository) -> None:
    program, *_, script, harness = command(repository)
    folder = repository.path / "build/check/gdb"
    assert (program, script, harness) == ("gdb", str(folder / "job.gdb"), str(folder / "harness"))
    assert "break exp_compute.h:exp_compute" in Path(script).read_text()
    refused = repository.scons("gdb", CASE, "run=1", check=False)
    assert "gdb is not on PATH; install it (apt install gdb)" in refused.stderr


@pytest.mark.slow
def test_gdb_stops_in_compute(repository: Repository) -> None:
    need("gdb", "gdb")
    source = (repository.path / "exp_compute.h").read_text().splitlines()
    opening = next(i for i, line in enumerate(source) if "exp_compute(" in line)
    body = source.index("{", opening) + 1
    first = next(i for i, line in enumerate(source[body:], body + 1) if line.strip())
    printed = debug(
        repository,
        "print inputs->input.shape[1]\nbreak opkit_exp_fast\ncontinue\nprint x\nnext\nkill\n",
    )
    assert f"exp_compute.h:{first}\n" in printed
    assert "$1 = 31\n" in printed
    shown = re.search(r"\$2 = (\S+)$", printed, re.MULTILINE)
    assert shown is not None
    assert -18 <= float(shown[1]) <= 12


@pytest.mark.slow
def test_gdb_stops_at_out_of_bounds_access(repository: Repository, tmp_path: Path) -> None:
    need("gdb", "gdb")
    copy = Repository(tmp_path / "Exp")
    shutil.copytree(repository.path, copy.path)
    path = copy.path / "exp_compute.h"
    text = path.read_text()
    path.write_text(
        text.replace("    return NULL;", "    outputs->output.float32[4096] = 1;\n    return NULL;")
    )
    line = text[: text.index("    return NULL;")].count("\n") + 1
    printed = debug(copy, "continue\nkill\n")
    assert "received signal SIGSEGV" in printed
    assert f"exp_compute.h:{line}\n" in printed


@pytest.mark.slow
def test_unknown_case_suggests_matches(repository: Repository) -> None:
    refused = repository.scons("gdb", "case=7x31-uniform(-18,13)", check=False)
    assert "no test has a case '7x31-uniform(-18,13)'; closest matches: 7x31-unif" in refused.stderr


def test_case_is_required(fresh: Repository) -> None:
    refused = fresh.scons("gdb", check=False)
    assert refused.returncode == 2
    assert "gdb stops in one case; pass its name with case=" in refused.stderr


def test_help_lists_gdb(fresh: Repository) -> None:
    assert re.search(r"^ +scons gdb case=NAME +\w", fresh.scons("-h").stdout, re.MULTILINE)
