"""Each header of the math compiles alone, in C and C++, for every ABI."""

from __future__ import annotations

from pathlib import Path

import pytest

from opkit.toolchains.abi import ABIS
from tests.compiling import LANGUAGES, OPKIT, compile_c
from tests.marks import quick_first

HEADERS = sorted(path.name for path in (OPKIT / "compute").glob("*.h"))


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
