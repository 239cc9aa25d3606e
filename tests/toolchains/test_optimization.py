"""The flags of optimization: results with the same bits on every ABI."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit.toolchains.abi import ABIS
from opkit.toolchains.flags import EXACT, optimization
from tests.compiling import compile_c

FUSED = {"aarch64": "fmadd", "armhf": "vfma", "riscv64": "fmadd", "x64": "vfmadd"}
SOURCE = "float sum(float a, float b, float c) { return a * b + c; }\n"
LOOP = """\
float add(const float *x, float *y, int count) {
    for (int i = 0; i < count; i++) { y[i] = x[i] > 0.0F ? x[i] + 1.0F : -x[i]; }
    return 0.0F;
}
"""


def assembly(folder: Path, source: str, abi: str, *flags: str) -> str:
    (folder / "source.c").write_text(source)
    run = compile_c(
        folder / "out.s",
        "-S",
        "-Wno-unused-command-line-argument",
        *flags,
        folder / "source.c",
        abi=ABIS[abi],
    )
    assert run.returncode == 0, run.stderr
    return (folder / "out.s").read_text()


@pytest.mark.parametrize("abi", ABIS)
def test_products_are_not_fused(tmp_path: Path, abi: str) -> None:
    text = assembly(tmp_path, SOURCE, abi, *optimization(abi, "zig"), *EXACT)
    assert FUSED[abi] not in text


def test_fused_without_the_flag(tmp_path: Path) -> None:
    """The flag is needed: clang's default on 64-bit ARM is to fuse."""
    assert FUSED["aarch64"] in assembly(tmp_path, SOURCE, "aarch64", "-O2")


def test_loops_have_four_vectors_on_aarch64(tmp_path: Path) -> None:
    text = assembly(tmp_path, LOOP, "aarch64", *optimization("aarch64", "zig"), *EXACT)
    assert text.count("fcmgt") >= 4  # and those of the loop's rest
