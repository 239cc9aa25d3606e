"""Fourier transforms against numpy's, and with the same bits everywhere."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.compiling import C_SOURCES
from tests.compute.programs import programs_of

SOURCE = C_SOURCES / "fourier_program.c"
LENGTHS = (*range(1, 41), 74, 97, 128, 210, 243, 256, 400, 512, 961, 1009, 4096)
"""Powers of 2, products, primes; 37 and more are factors of Bluestein's algorithm."""
ERROR = 1e-14
"""Relative to the norm of a row."""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return programs_of(SOURCE, tmp_path_factory.mktemp("fourier"))


def transformed(program: Path, kind: str, x: NDArray[Any]) -> NDArray[Any]:
    run = subprocess.run(
        [program, kind, *map(str, x.shape)], input=x.tobytes(), capture_output=True, check=True
    )
    return np.frombuffer(run.stdout, np.complex128).reshape(-1, x.shape[1])


def rows(length: int, count: int) -> NDArray[Any]:
    parts = np.random.default_rng(length).standard_normal((length, count, 2))
    return np.ascontiguousarray(parts).view(np.complex128)[..., 0]


@pytest.mark.parametrize("count", [1, 3, 8])
def test_complex_rows(programs: dict[str, Path], count: int) -> None:
    for length in LENGTHS:
        x = rows(length, count)
        found = transformed(programs["fast"], "complex", x)
        error = np.abs(found - np.fft.fft(x, axis=0)) / np.linalg.norm(x, axis=0)
        assert error.max() <= ERROR, length


def test_real_rows(programs: dict[str, Path]) -> None:
    for length in LENGTHS:
        x = rows(length, 3).real.astype(np.float32)
        found = transformed(programs["fast"], "real", x)
        expected = np.fft.fft(x.astype(np.float64), axis=0)[: len(found)]
        assert len(found) == (length // 2 + 1 if length % 2 == 0 else length)
        error = np.abs(found - expected) / np.linalg.norm(x, axis=0)
        assert error.max() <= ERROR, length


def test_rows_are_independent(programs: dict[str, Path]) -> None:
    x = rows(12, 3)
    x[:, 1] = np.nan
    found = transformed(programs["fast"], "complex", x)
    alone = transformed(programs["fast"], "complex", np.ascontiguousarray(x[:, [0]]))
    assert np.array_equal(found[:, [0]], alone)
    assert np.isnan(found[:, 1]).all()


def test_same_bits_with_all_vectors(programs: dict[str, Path]) -> None:
    for length in (15, 37, 128):
        x = rows(length, 8)
        found = {transformed(program, "complex", x).tobytes() for program in programs.values()}
        assert len(found) == 1
