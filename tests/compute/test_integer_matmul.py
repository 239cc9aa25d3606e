"""Products of matrices of 8-bit integers, by each instruction set."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
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
TYPES = [(left, right) for left in ("int8", "uint8") for right in ("int8", "uint8")]


EDGES = [-128, -65, -64, 63, 64, 127]
"""Numbers of 7 bits, of which an instruction may add two products in 16 bits, and others."""


@dataclass(frozen=True)
class Product:
    """A product of matrices.

    Attributes:
        types: of both matrices.
        matrices: the left and the right one, read as their types.
        zeros: of both matrices, the count of zero points.
    """

    types: tuple[str, str]
    matrices: tuple[np.ndarray, np.ndarray]
    zeros: tuple[int, int]


def random_products() -> Iterator[Product]:
    """Return products of any numbers."""
    for number, (shape, types) in enumerate(itertools.product(SHAPES, TYPES)):
        random = np.random.default_rng(number)
        rows, terms, columns = shape
        zeros = [(rows, columns), (1, 1), (1, columns), (rows, 1)][number % 4]
        left, right = (
            random.integers(0, 256, size, np.uint8) for size in ((rows, terms), (terms, columns))
        )
        yield Product(types, (left.view(types[0]), right.view(types[1])), zeros)


def edge_products() -> Iterator[Product]:
    """Return products in which one side has 7 bits but for its last number."""
    for number, (side, last) in enumerate(itertools.product((0, 1), EDGES)):
        types = TYPES[number % len(TYPES)]
        sizes = [(6, 1154), (1154, 77)]  # the last word of terms and the last columns are not full
        random = np.random.default_rng(number)
        signed = [random.choice(np.array([-128, 127, 127, 127]), size) for size in sizes]
        signed[side][:] = -64
        signed[side][-1, -1] = last
        left, right = (
            (each + 128 * (dtype == "uint8")).astype(dtype)
            for each, dtype in zip(signed, types, strict=True)
        )
        yield Product(types, (left, right), (1, sizes[1][1]))


def check(command: list[str], words: int, product: Product) -> None:
    """Compare a product of a program with numpy's."""
    left, right = product.matrices
    random = np.random.default_rng(product.zeros)
    left_zeros, right_zeros = (
        random.integers(0, 256, count, np.uint8).view(dtype)
        for count, dtype in zip(product.zeros, product.types, strict=True)
    )
    shape = (*left.shape, right.shape[1])
    done = subprocess.run(
        [*command, *map(str, shape), *product.types, *map(str, product.zeros)],
        input=b"".join(each.tobytes() for each in (left, right, left_zeros, right_zeros)),
        capture_output=True,
        check=True,
    )
    found = np.frombuffer(done.stdout, np.int32).reshape(shape[0], shape[2])
    rows = left.astype(np.int64) - left_zeros[:, None]
    columns = right.astype(np.int64) - right_zeros
    np.testing.assert_array_equal(found, rows @ columns, f"{shape} {product.types} {product.zeros}")
    assert done.stderr == str(words).encode()


@pytest.mark.parametrize("name", MACHINES)
def test_like_numpy(name: str, tmp_path: Path) -> None:
    each, words = MACHINES[name]
    command = each.command(C_SOURCES / "integer_program.c", tmp_path)
    for product in itertools.chain(random_products(), edge_products()):
        check(command, words, product)
