"""The pages of docs/: their examples run, in a repository of the operator that a page describes."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import click
import pytest
import yaml

from opkit import testing
from opkit.description.spec import TENSOR_DTYPES
from rknn_op.command import main as rknn_op
from tests.compiling import C_SOURCES
from tests.repositories import ROOT, TEMPLATE, Repository, generate
from tests.test_readme import assert_printed, blocks, console

PAGES = {name: (ROOT / f"docs/{name}.md").read_text() for name in ("cases", "vx")}
TEXT = PAGES["cases"]

# The operator of each page, in numpy; in C it is tests/c/<operator>_compute.h.
REFERENCES = {
    "cases": """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"rows": (input_shapes["indices"][0], input_shapes["table"][1])}


def reference(inputs, params):
    rows = inputs["table"][inputs["indices"].astype(np.int64)]
    return {"rows": rows * np.float32(params["scale"])}
""",
    "vx": """\
import numpy as np


def output_shapes(input_shapes, params):
    return {"output": input_shapes["input"]}


def reference(inputs, params):
    y = inputs["input"] * np.float32(params["scale"]) + np.float32(params["offset"])
    return {"output": np.minimum(y, np.float32(6))}
""",
}
COMMANDS = [(name, command) for name, text in PAGES.items() for command, _ in console(text)]


def add_vx_kernel(repository: Repository, text: str) -> None:
    """Do what the page on VX kernels tells: write the kernel, and insert its lines of C."""
    (kernel,) = blocks("opencl", text)
    (repository.path / "rknn_kernel_affine.vx").write_text(kernel)
    (lines,) = blocks("c", text)
    above, inside = lines.split("/* in initialize_vx_kernel */\n")
    path = repository.path / "rknn_kernel_affine.c"
    function = "static vx_status initialize_vx_kernel(const struct opkit_call *call)\n"
    first_line = "    const size_t width"
    source = path.read_text()
    assert (source.count(function), source.count(first_line)) == (1, 1)
    source = source.replace(function, above + function).replace(first_line, inside + first_line)
    path.write_text(source)


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Repository]:
    """Return the repository of a page's operator, with the page's examples as its tests."""

    @cache
    def made(name: str) -> Repository:
        text = PAGES[name]
        (description,) = blocks("yaml", text)
        repository = generate(tmp_path_factory.mktemp(name), description)
        tests = "".join(blocks("python", text))
        test_file = tests.splitlines()[0].removeprefix("# ")
        operator = Path(test_file).stem.removeprefix("test_")
        shutil.copy(C_SOURCES / f"{operator}_compute.h", repository.path)
        (repository.path / f"{operator}_reference.py").write_text(REFERENCES[name])
        assert (repository.path / test_file).is_file()
        (repository.path / test_file).write_text(tests)
        if name == "vx":
            add_vx_kernel(repository, text)
        return repository

    return made


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_documented_command_output(
    repositories: Callable[[str], Repository], name: str, command: str
) -> None:
    expected = dict(console(PAGES[name]))[command]
    tool, *arguments = shlex.split(command)
    printed = repositories(name).run({"scons": "SCons"}.get(tool, tool), *arguments).stdout
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
    assert set(re.findall(r"u?int\d+|float\d+|bool", listed)) == set(TENSOR_DTYPES)


@pytest.mark.parametrize("name", PAGES)
def test_docs_are_one_page(fresh: Repository, name: str) -> None:
    (page,) = TEMPLATE.glob(f"opkit/**/docs/{name}.md")
    assert (ROOT / f"docs/{name}.md").resolve() == page
    for text in (fresh.path / "README.md", ROOT / "README.md"):
        (link,) = re.findall(rf"\]\((\S*{name}\.md)\)", text.read_text())
        assert (text.parent / link).read_text() == PAGES[name]


def test_new_tests_name_the_page_on_cases(fresh: Repository) -> None:
    tests: Path = fresh.path / "tests/test_myoperator.py"
    (named,) = re.findall(r"\S*cases\.md", tests.read_text())
    assert (fresh.path / named).is_file()


def test_page_on_many_operators() -> None:
    """Its commands are understood, and its workflow is YAML with the commands of a repository."""
    page = (ROOT / "docs/many.md").read_text()
    commands = "".join(blocks("sh", page)).splitlines()
    assert len(commands) == 6
    for command in commands:
        program, verb, *words = shlex.split(command.partition(" > ")[0])
        assert program == "rknn-op"
        if verb == "lint":  # whose folder and files must be there
            continue
        found = rknn_op.get_command(click.Context(rknn_op), verb)
        assert found is not None
        found.make_context(verb, words)
    (text,) = blocks("yaml", page)
    steps = yaml.safe_load(text)["jobs"]["check"]["steps"]
    assert [step["run"].split()[0] for step in steps if "run" in step] == ["bash", "scons", "scons"]
    assert (TEMPLATE / "opkit/ci/install").is_file()
