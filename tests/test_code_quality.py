"""The project's code is formatted, linted and typed, and contains no notes and machine paths."""

from __future__ import annotations

import ast
import fnmatch
import re
import subprocess
import sys
from pathlib import Path

import pytest
from clang_format import get_executable

from tests.check.target_repositories import need
from tests.repositories import ROOT, TEMPLATE

MAX_FUNCTION_LINES = 80
"""An alarm, not an aim: a function does one thing at one level, however long that is."""


def tracked(*patterns: str) -> list[Path]:
    """Return the files of the project: tracked by git, or new and not ignored."""
    need("git", "git")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for name in names.split("\0") if name and (path := ROOT / name).is_file()]


def run(*command: str) -> None:
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_no_folder_of_tests_is_left_out(pytestconfig: pytest.Config) -> None:
    """Pytest enters no folder with some names, such as `build`, unless it is configured to."""
    patterns = pytestconfig.getini("norecursedirs")
    for path in tracked("tests/test_*.py", "tests/**/test_*.py"):
        for name in path.relative_to(ROOT).parts[:-1]:
            assert not any(fnmatch.fnmatch(name, pattern) for pattern in patterns), path


@pytest.mark.parametrize("arguments", [("check", "."), ("format", "--check", ".")], ids=" ".join)
def test_ruff(arguments: tuple[str, ...]) -> None:
    run(sys.executable, "-m", "ruff", *arguments, "--no-cache")


@pytest.mark.slow
def test_mypy() -> None:
    run(sys.executable, "-m", "mypy")


def c_files() -> list[Path]:
    """Return all files in C and VX C, except templates, which test_emit.py tests."""
    files = [
        path for path in tracked("*.c", "*.cc", "*.h", "*.vx") if "templates" not in path.parts
    ]
    assert len(files) > 20
    return files


def test_c_format() -> None:
    run(get_executable("clang-format"), "--dry-run", "-Werror", *map(str, c_files()))


def test_lines_of_c_have_at_most_100_columns() -> None:
    """clang-format leaves long words, and the parts outside of its control, unbroken."""
    for path in [*c_files(), *tracked("*/templates/*.[ch]", "*/templates/*.vx")]:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            assert len(line) <= 100, f"{path}:{number}: {line}"


def test_inlined_c_functions_have_one_attribute() -> None:
    """OPKIT_INLINE, but for OpenCL C's prelude, which includes no headers of the operators."""
    for path in c_files():
        if path.name != "processor.h" and "prelude" not in path.parts:
            assert "always_inline" not in path.read_text(), path


def test_c_functions_are_not_too_long() -> None:
    """By the code style only a function's braces are alone in the first column."""
    for path in c_files():
        text = path.read_text()
        for body in re.finditer(r"^\{\n(.*?)^\}$", text, re.DOTALL | re.MULTILINE):
            number = text[: body.start()].count("\n") + 1
            lines = body[1].count("\n")
            assert lines <= MAX_FUNCTION_LINES, f"{path}:{number}: {lines} lines"


def lines_without_docstring(function: ast.FunctionDef) -> int:
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        assert docstring.end_lineno is not None
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines


@pytest.mark.slow
def test_python_functions_are_not_too_long() -> None:
    for path in tracked("*.py"):
        if "templates" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                lines = lines_without_docstring(node)
                assert lines <= MAX_FUNCTION_LINES, f"{path}:{node.lineno}: {lines} lines"


def test_only_rendered_files_contain_jinja() -> None:
    """The templates of the report are rendered by opkit; cookiecutter copies them unchanged."""
    report = ROOT / "opkit" / "report"
    license_ = TEMPLATE / "{% if cookiecutter.__license %}LICENSE{% endif %}"
    files = {report / name for name in ("page.html", "plot.svg", "map.svg")}
    templates = {TEMPLATE / "op.yml", license_, *files}
    for path in tracked():
        if path.is_relative_to(TEMPLATE):
            text = path.read_text()
            holds_jinja = re.search(r"\{\{ ?cookiecutter|\{%|\{#", text) is not None
            assert holds_jinja == (path in templates), path


def test_no_todos_and_no_machine_names() -> None:
    pattern = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b|/ro" r"ot/")
    for path in tracked():
        if "tests/data" in path.as_posix() or path == Path(__file__):
            continue
        match = pattern.search(path.read_bytes().decode(errors="replace"))
        assert match is None, f"{path}: {match[0]}"
