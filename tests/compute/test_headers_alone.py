"""Each header compiles alone; those of the math in C and C++, for every ABI."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from opkit.toolchains.abi import ABIS
from tests.check.target_repositories import need
from tests.compiling import INCLUDE, LANGUAGES, OPKIT, compile_c
from tests.marks import quick_first
from tests.repositories import ROOT

HEADERS = sorted(path.name for path in (OPKIT / "compute").glob("*.h"))
# Templates; headers in C++ or OpenCL C; headers of vendors.
FOREIGN = {"templates", "declarations", "prelude", "include"}
OTHER_HEADERS = [
    path
    for path in sorted(OPKIT.rglob("*.h"))
    if path.parent.name != "compute" and FOREIGN.isdisjoint(path.parts)
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("abi", quick_first(1, ABIS))
@pytest.mark.parametrize("header", HEADERS)
def test_header_compiles_without_warnings(
    tmp_path: Path, header: str, abi: str, language: str
) -> None:
    source = tmp_path / "header.c"
    source.write_text(f'#include "opkit/compute/{header}"\nint used;\n')
    run = compile_c(tmp_path / "header.o", "-c", source, abi=ABIS[abi], language=language)
    assert run.returncode == 0, run.stderr


def test_headers_compile_with_threads(tmp_path: Path) -> None:
    headers = [OPKIT / "compute" / name for name in HEADERS]
    assert compile_alone(tmp_path, headers, "-DOPKIT_THREADS=2") == ""


def test_other_headers_compile_alone(tmp_path: Path) -> None:
    assert len(OTHER_HEADERS) > 20
    assert compile_alone(tmp_path, OTHER_HEADERS) == ""


def compile_alone(folder: Path, headers: Sequence[Path], *flags: str) -> str:
    """Compile each header, all in one run, as zig takes a second for each; return the errors."""
    need("gcc", "gcc libc6-dev")
    sources = [folder / f"{index}.c" for index, _ in enumerate(headers)]
    for source, header in zip(sources, headers, strict=True):
        source.write_text(f'#include "{header}"\nint used;\n')
    folders = [f"-I{each}" for each in (ROOT, INCLUDE, OPKIT / "runtimes/rknn2/include")]
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-std=c11", "-D_GNU_SOURCE="]
    command = ["gcc", "-fsyntax-only", *strict, *flags, *folders, *map(str, sources)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr
