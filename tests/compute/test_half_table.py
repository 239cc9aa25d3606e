"""Functions of one half as a table."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.compiling import C_SOURCES, build

ALL_HALVES = np.arange(1 << 16, dtype=np.uint16)
TABLE = np.random.default_rng(1).permutation(ALL_HALVES)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("half_table")
    return build(folder / "program", "-O2", C_SOURCES / "half_table_program.c")


@pytest.mark.parametrize("options", [(), ("in_place",)], ids=["apart", "in_place"])
@pytest.mark.parametrize("count", [0, 1, 7, 1001, 1 << 16])
def test_look_up(program: Path, count: int, options: tuple[str, ...]) -> None:
    halves = np.random.default_rng(count).permutation(ALL_HALVES)[:count]
    result = subprocess.run(
        [program, *options], input=TABLE.tobytes() + halves.tobytes(), capture_output=True
    )
    assert result.returncode == 0
    np.testing.assert_array_equal(np.frombuffer(result.stdout, np.uint16), TABLE[halves])
