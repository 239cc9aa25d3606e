"""Our declarations of ppl.nn: as strict as the real ones, and enough for every generated file.

test_real_checkout.py compares them with the real ones, where the tester has those.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.files.texts import DECLARATIONS
from tests.runtimes.pplnn.engines import STRICT, cxx
from tests.runtimes.pplnn.operators import OPERATORS, make_repository
from tests.runtimes.pplnn.snippets import SNIPPETS, check


@pytest.mark.parametrize("name", SNIPPETS)
def test_strictness(name: str, tmp_path: Path) -> None:
    check(SNIPPETS[name], [f"-I{DECLARATIONS}"], tmp_path)


@pytest.mark.parametrize("name", OPERATORS)
def test_generated_files_compile_alone(name: str, tmp_path: Path) -> None:
    """Each file includes what it uses: sources, and headers as the first of a source."""
    repository = make_repository(tmp_path / name, OPERATORS[name])
    options = [f"-I{path}" for path in (repository / "pplnn/src", DECLARATIONS)]
    files = [path for path in (repository / "pplnn").rglob("*") if path.suffix in (".cc", ".h")]
    of_math = {path for path in files if path.name.endswith(("_shapes.h", "_math_files.h"))}
    source = tmp_path / "source.cc"
    for path in sorted(set(files) - of_math):
        source.write_text(f'#include "{path}"\n')
        command = [*cxx(), *STRICT, "-fsyntax-only", *options, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
