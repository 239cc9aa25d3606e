"""The host runtime behaves as the driver 1.7.5; the points are in driver_behavior.c."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.compiling import C_SOURCES, GUARDED_MEMORY, RKNN
from tests.runtimes.rknn.host_build import compile_program

HOST_RUNTIME = RKNN / "host_runtime"
SOURCE = C_SOURCES / "driver_behavior.c"
NAMES = re.findall(r"^    TEST\((\w+)\),$", SOURCE.read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("driver") / "driver_behavior"
    compile_program(path, SOURCE, *sorted(HOST_RUNTIME.glob("*.c")), *GUARDED_MEMORY)
    return path


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", NAMES)
def test_host_runtime_matches_driver(program: Path, name: str) -> None:
    result = run(program, name)
    assert result.returncode == 0, result.stderr


def test_every_observation_is_tested(program: Path) -> None:
    assert run(program).stdout.split() == NAMES
    assert run(program, "no_such_point").returncode == 2
