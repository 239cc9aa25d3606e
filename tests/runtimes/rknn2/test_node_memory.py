"""The memory of converted tensors, which a node keeps between its calls."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.check.target_repositories import need
from tests.compiling import C_SOURCES, build
from tests.repositories import ROOT
from tests.runtimes.c_math import compute_text
from tests.runtimes.rknn2.support import HEADERS, write_operator

DESCRIPTION = """\
name: Doubled
runtimes: [rknn2]
inputs: {x: {type: VX_TYPE_TENSOR, dtype: int64}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""
COMPUTE = compute_text(
    "doubled",
    "for (size_t i = 0; i < inputs->x.size; i++) outputs->y.int64[i] = 2 * inputs->x.int64[i];",
)
# Input and output have a block each, and each block is two allocations.
CALLS = """\
first of 1000: 0, 5 allocations
first of 1000: 0, 0 allocations
first of 3: 0, 0 allocations
first of 999: 0, 0 allocations
first of 2000: 0, 2 allocations
first of 1000: 0, 0 allocations
second of 1000: 0, 5 allocations
second of 1000: 0, 0 allocations
first of 1000: 0, 0 allocations
first of 5000: -1, 1 allocations
first of 1000: 0, 1 allocations
no node of 10: 0, 4 allocations
second of 1000: 0, 0 allocations
0 blocks
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memory")
    write_operator(folder, DESCRIPTION, COMPUTE)
    build(folder / "memory", C_SOURCES / "rknn2_memory.c", HEADERS, f"-I{folder}", "-lpthread")
    return folder


def test_node_keeps_memory(folder: Path) -> None:
    result = subprocess.run([folder / "memory"], capture_output=True, text=True, check=True)
    assert result.stdout == CALLS
    assert result.stderr == "Doubled: not enough memory for 40000 bytes\n"


def test_calls_at_the_same_time_have_memory_of_their_own(folder: Path) -> None:
    command = [str(folder / "memory"), "threads"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == [*["right"] * 4, "0 blocks"]


@pytest.mark.slow
def test_no_data_race(folder: Path) -> None:
    need("gcc", "gcc libc6-dev")
    program, source = folder / "raced", C_SOURCES / "rknn2_memory.c"
    flags = ("-std=gnu11", "-O1", "-g", "-fsanitize=thread", f"-I{folder}", f"-I{ROOT}", HEADERS)
    command: list[str | Path] = ["gcc", *flags, source, "-o", program, "-lpthread", "-lm"]
    subprocess.run(command, check=True)  # zig has no ThreadSanitizer
    threads = [str(program), "threads"]
    result = subprocess.run(threads, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [*["right"] * 4, "0 blocks"]
