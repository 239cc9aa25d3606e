"""Sums of arrays in vectors, against numpy's in double, and with the same bits everywhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.compiling import C_SOURCES
from tests.compute.programs import programs_of

SOURCE = C_SOURCES / "reduce_program.c"
COUNTS = (0, 1, 15, 16, 17, 31, 511, 512, 513, 1024, 5000, 65536)
RELATIVE = 2**-19
"""The header's bound of the error, relative to the sum of magnitudes."""


def sums(program: Path, x: np.ndarray) -> np.ndarray:
    run = subprocess.run([program], input=x.tobytes(), capture_output=True, check=True, timeout=60)
    return np.frombuffer(run.stdout, np.float64)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return programs_of(SOURCE, tmp_path_factory.mktemp("reduce"))


@pytest.mark.parametrize("count", COUNTS)
def test_sums_against_numpy(programs: dict[str, Path], count: int) -> None:
    x = np.random.default_rng(count).normal(0.5, 3, count).astype(np.float32)
    wide = x.astype(np.float64)
    squares = (wide - 0.25) ** 2
    total, squared, differences, same, *_ = sums(programs["fast"], x)
    assert abs(total - wide.sum()) <= RELATIVE * np.abs(wide).sum()
    assert abs(squared - squares.sum()) <= RELATIVE * squares.sum()
    assert abs(differences - (wide - 0.25).sum()) <= RELATIVE * np.abs(wide - 0.25).sum()
    assert same == squared


@pytest.mark.parametrize("count", COUNTS[1:])
@pytest.mark.parametrize(
    ("mean", "deviation", "first"), [(0.5, 3, 0), (1000, 0.5, 0), (-1, 1e-3, 1000), (7, 0, 7)]
)
def test_mean_and_variance(
    programs: dict[str, Path], count: int, mean: float, deviation: float, first: float
) -> None:
    """Also with a mean far from 0, and with a first element far from it."""
    x = np.random.default_rng(count).normal(mean, deviation, count).astype(np.float32)
    x[0] = first or x[0]
    wide = x.astype(np.float64)
    found, variance = sums(programs["fast"], x)[4:]
    assert abs(found - wide.mean()) <= RELATIVE * (np.abs(wide - wide.mean()).mean() + 1e-9)
    assert abs(variance - wide.var()) <= 8 * RELATIVE * wide.var()


@pytest.mark.parametrize("count", COUNTS)
def test_same_bits_with_all_vectors(programs: dict[str, Path], count: int) -> None:
    x = np.random.default_rng(count).normal(0.5, 3, count).astype(np.float32)
    found = {name: sums(program, x).tobytes() for name, program in programs.items()}
    assert len(set(found.values())) == 1


def test_infinity_and_nan(programs: dict[str, Path]) -> None:
    x = np.ones(600, np.float32)
    x[300] = np.inf
    assert sums(programs["fast"], x)[:5].tolist() == [np.inf] * 5
    x[301] = np.nan
    assert np.isnan(sums(programs["fast"], x)).all()
