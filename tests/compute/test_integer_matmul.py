"""Products of matrices of 8-bit integers, by each instruction set."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest

from opkit.toolchains.abi import ABIS
from opkit.toolchains.flags import EXACT, optimization
from tests.compiling import C_SOURCES
from tests.compute.programs import Machine

pytestmark = pytest.mark.slow

BASELINE = "-DOPKIT_BASELINE"


def machine(abi: str, processor: str | None, *flags: str) -> Machine:
    return Machine(ABIS[abi], (*optimization(abi, "zig"), *EXACT, *flags), processor)


def words_here() -> int:
    """Return the numbers in a word on this machine; qemu has no AVX-512 VNNI."""
    flags = Path("/proc/cpuinfo").read_text().split()
    return 4 if "avx512_vnni" in flags else 2


MACHINES = {
    "x64": (machine("x64", None), words_here()),
    "x64 baseline": (machine("x64", None, BASELINE), 2),
    "x64 no AVX-512": (machine("x64", None, "-DOPKIT_NO_AVX512"), 2),
    "x64 SSE2": (machine("x64", "qemu64"), 2),
    "x64 AVX2": (machine("x64", "max"), 2),
    "aarch64": (machine("aarch64", "cortex-a53"), 0),
    "aarch64 DotProd": (machine("aarch64", "max"), 4),
    "armhf": (machine("armhf", "cortex-a7"), 0),
    "riscv64": (machine("riscv64", "rv64"), 0),
}
"""Name -> the machine, and the numbers in a word of its instruction; 0: it has none."""

SHAPES = [  # rows, terms, columns
    (1, 1, 1),
    (3, 5, 9),
    (4, 16, 64),
    (6, 577, 65),  # more terms than a panel has, of words of 4
    (131, 33, 17),
]
TYPES = [*itertools.product(["int8", "uint8"], repeat=2)]


def check(command: list[str], words: int) -> None:
    """Compare the products of a program with numpy's."""
    for number, (shape, types) in enumerate(itertools.product(SHAPES, TYPES)):
        random = np.random.default_rng(number)
        rows, terms, columns = shape
        zeros = [(rows, columns), (1, 1), (1, columns), (rows, 1)][number % 4]
        sizes = [(rows, terms), (terms, columns), (zeros[0], 1), (zeros[1],)]
        arrays = [
            random.integers(0, 256, size, np.uint8).view(dtype)
            for size, dtype in zip(sizes, types * 2, strict=True)
        ]
        a, b, a_zeros, b_zeros = (each.astype(np.int64) for each in arrays)
        done = subprocess.run(
            [*command, *map(str, shape), *types, *map(str, zeros)],
            input=b"".join(each.tobytes() for each in arrays),
            capture_output=True,
            check=True,
        )
        found = np.frombuffer(done.stdout, np.int32).reshape(rows, columns)
        np.testing.assert_array_equal(found, (a - a_zeros) @ (b - b_zeros), f"{shape} {types}")
        assert done.stderr == str(words).encode()


@pytest.mark.parametrize("name", MACHINES)
def test_like_numpy(name: str, tmp_path: Path) -> None:
    each, words = MACHINES[name]
    check(each.command(C_SOURCES / "integer_program.c", tmp_path), words)
