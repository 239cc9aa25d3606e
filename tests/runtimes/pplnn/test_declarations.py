"""opkit's declarations of ppl.nn are as strict as the real ones, and enough for generated files.

test_real_checkout.py compares them with the real ones, if the tester has a checkout.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.files.texts import DECLARATIONS
from tests.marks import quick_first, slow_first
from tests.runtimes.pplnn.engines import STRICT, cxx
from tests.runtimes.pplnn.operators import OPERATORS, make_repository
from tests.runtimes.pplnn.snippets import SNIPPETS, check


@pytest.mark.parametrize("name", quick_first(1, SNIPPETS))
def test_strictness(name: str, tmp_path: Path) -> None:
    check(SNIPPETS[name], [f"-I{DECLARATIONS}"], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_first(1, OPERATORS))
def test_generated_files_compile_alone(name: str, tmp_path: Path) -> None:
    """Each file has all its includes: sources, and headers as the first include of a source."""
    repository = make_repository(tmp_path / name, OPERATORS[name])
    options = [f"-I{path}" for path in (repository / "pplnn/src", DECLARATIONS)]
    files = [path for path in (repository / "pplnn").rglob("*") if path.suffix in (".cc", ".h")]
    files += (repository / "generated").glob("*_pplnn.cc")  # for the check, not for ppl.nn
    of_math = {path for path in files if path.name.endswith(("_shapes.h", "_math_files.h"))}
    source = tmp_path / "source.cc"
    for path in sorted(set(files) - of_math):
        source.write_text(f'#include "{path}"\n')
        command = [*cxx(), *STRICT, "-fsyntax-only", *options, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
