"""Memory that stays allocated between calls of a kernel."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.compiling import C_SOURCES, LANGUAGES, build

SOURCE = C_SOURCES / "scratch_program.c"
HUGE, ALMOST = 2**64 - 1, 2**64 - 11

KEPT = f"""\
0: alloc 63
100: free alloc 163
100:
7:
same: 1
50: alloc 113
100:
same: 1
5000: free alloc 5063
{HUGE}: free NULL
{ALMOST}: NULL
200: alloc 263
200:
release: free free
1: alloc 64
 free
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_memory_is_kept_and_grows(tmp_path: Path, language: str) -> None:
    program = build(tmp_path / "scratch", SOURCE, language=language)
    assert _output(program) == KEPT


def test_failed_allocation_leaves_a_usable_scratch(tmp_path: Path) -> None:
    program = build(tmp_path / "scratch", SOURCE)
    failing = KEPT.replace("alloc 5063", "alloc 5063 NULL")
    assert _output(program, "fail") == failing.replace(f"{HUGE}: free NULL", f"{HUGE}: NULL")


def test_checks_get_new_memory_of_the_exact_size(tmp_path: Path) -> None:
    program = build(tmp_path / "scratch", SOURCE, "-DOPKIT_GUARDED")
    lines = _output(program).splitlines()
    # Not at the start of a cache line: the block's own end is at a guard page.
    words = [line.removesuffix(" misaligned") for line in lines]
    assert words[:3] == ["0: alloc 0", "100: free alloc 100", "100: free alloc 100"]
    assert words[-4:] == ["200: free alloc 200", "release: free free", "1: alloc 1", " free"]


def _output(program: Path, *arguments: str) -> str:
    command = [str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
