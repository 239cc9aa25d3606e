"""Running sums along an axis, against numpy's."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.compiling import C_SOURCES, build

FLOAT32, INT8, INT32, INT64 = 0, 1, 5, 7
"""Of enum opkit_type."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(
        *(tmp_path_factory.mktemp("running") / "running", "-O1"),
        C_SOURCES / "running_program.c",
    )


def printed(program: Path, *arguments: int) -> str:
    return subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=10
    ).stdout


@pytest.mark.parametrize("type_", [FLOAT32, INT32, INT64])
@pytest.mark.parametrize("shape", [(5,), (2, 3, 4), (3, 512), (2, 2, 1100), (1103, 2)], ids=str)
def test_sums_like_numpy(program: Path, shape: tuple[int, ...], type_: int) -> None:
    """512 columns, and parts of the last 512, advance side by side, also those of other rows."""
    x = np.arange(1, np.prod(shape) + 1).reshape(shape)
    rank = len(shape)
    for axis, exclusive, reverse in itertools.product(range(-rank, rank), (0, 1), (0, 1)):
        ordered = np.flip(x, axis) if reverse else x
        totals = np.cumsum(ordered, axis) - (ordered if exclusive else 0)
        expected = np.flip(totals, axis) if reverse else totals
        found = printed(program, type_, axis, exclusive, reverse, *shape).split()
        assert [*map(int, found)] == expected.ravel().tolist(), (axis, exclusive, reverse)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((INT8, 0, 0, 0), "x must be float16, float32, int32, uint32 or int64"),
        ((FLOAT32, 2, 0, 0), "axis must be a dimension of x: from -rank to rank - 1"),
        ((FLOAT32, -3, 0, 0), "axis must be a dimension of x: from -rank to rank - 1"),
        ((FLOAT32, 0, 2, 0), "exclusive must be 0 or 1"),
        ((FLOAT32, 0, 0, -1), "reverse must be 0 or 1"),
    ],
)
def test_refused(program: Path, arguments: tuple[int, ...], message: str) -> None:
    assert printed(program, *arguments, 2, 3) == f"{message}\n"
