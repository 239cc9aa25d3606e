"""docs/cases.md: its examples run, in a repository of the operator that the page describes."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from opkit import testing
from opkit.description.spec import TENSOR_DTYPES
from tests.compiling import C_SOURCES
from tests.repositories import ROOT, TEMPLATE, Repository, generate
from tests.test_readme import assert_printed, blocks, console

PAGE = ROOT / "docs/cases.md"
TEXT = PAGE.read_text()
TESTS = "".join(blocks("python", TEXT))

REFERENCE = """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"rows": (input_shapes["indices"][0], input_shapes["table"][1])}


def reference(inputs, params):
    rows = inputs["table"][inputs["indices"].astype(np.int64)]
    return {"rows": rows * np.float32(params["scale"])}
"""


@pytest.fixture(scope="module")
def take_rows(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return the repository of the page's operator, with the page's examples as its tests."""
    (description,) = blocks("yaml", TEXT)
    repository = generate(tmp_path_factory.mktemp("take_rows"), description)
    shutil.copy(C_SOURCES / "takerows_compute.h", repository.path)
    (repository.path / "takerows_reference.py").write_text(REFERENCE)
    test_file = TESTS.splitlines()[0].removeprefix("# ")
    assert (repository.path / test_file).is_file()
    (repository.path / test_file).write_text(TESTS)
    return repository


@pytest.mark.parametrize("number", range(len(list(console(TEXT)))))
def test_documented_command_output(take_rows: Repository, number: int) -> None:
    command, expected = list(console(TEXT))[number]
    tool, *arguments = shlex.split(command)
    printed = take_rows.run({"scons": "SCons"}.get(tool, tool), *arguments).stdout
    assert_printed(expected, printed)
    assert "FAILED" not in printed


def test_page_lists_all_values_and_dtypes() -> None:
    makers = {
        name
        for name in testing.__all__
        if getattr(testing, name).__annotations__.get("return") == "Values"
    }
    assert makers == set(re.findall(r"^\| `(\w+)\(", TEXT, re.MULTILINE))
    (listed,) = re.findall(r"The kernels take ([^.]*)\.", TEXT)
    assert set(re.findall(r"u?int\d+|float\d+", listed)) == set(TENSOR_DTYPES)


def test_docs_are_one_page(fresh: Repository) -> None:
    assert PAGE.resolve() == TEMPLATE / "opkit/docs/cases.md"
    for text in (fresh.path / "README.md", ROOT / "README.md"):
        (link,) = re.findall(r"\]\((\S*cases\.md)\)", text.read_text())
        assert (text.parent / link).read_text() == TEXT
    tests: Path = fresh.path / "tests/test_myoperator.py"
    (named,) = re.findall(r"\S*cases\.md", tests.read_text())
    assert (fresh.path / named).is_file()
