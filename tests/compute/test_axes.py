"""The loops of reductions, against numpy's sums along the same axes."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.compiling import C_SOURCES, build


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("axes") / "axes", "-O1", C_SOURCES / "axes_program.c")


def planned(program: Path, shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[str, list[int]]:
    """Return the counts of the loops, and the sums."""
    arguments = [f"{each}" for i, side in enumerate(shape) for each in (side, int(i in axes))]
    run = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    counts, sums = run.stdout.split("\n")
    return counts, [int(each) for each in sums.split()]


@pytest.mark.parametrize("shape", [(5,), (1, 1), (3, 4), (4, 1, 3, 1), (2, 3, 2, 3, 2, 3)], ids=str)
def test_sums_like_numpy(program: Path, shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape)).reshape(shape)
    for count in range(len(shape) + 1):
        for axes in itertools.combinations(range(len(shape)), count):
            sums = planned(program, shape, axes)[1]
            assert sums == np.sum(x, axis=axes).ravel().tolist(), axes


@pytest.mark.parametrize(
    ("shape", "axes", "counts"),
    [
        ((2, 3, 4), (2,), "6 1 4 1 4"),
        ((2, 3, 4), (1, 2), "2 1 12 1 12"),
        ((2, 3, 4), (0, 1), "1 1 6 4 6"),
        ((2, 3, 4), (0, 2), "3 2 4 1 8"),
        ((2, 3, 4, 5), (0, 2), "3 2 4 5 8"),
        ((2, 1, 3, 1), (0, 3), "1 1 2 3 2"),
        ((2, 3), (), "1 1 1 6 1"),
    ],
    ids=str,
)
def test_neighboring_axes_are_one_loop(
    program: Path, shape: tuple[int, ...], axes: tuple[int, ...], counts: str
) -> None:
    """Counts: kept and reduced places, rows of a block, columns, terms."""
    assert planned(program, shape, axes)[0] == counts
