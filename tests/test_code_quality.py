"""Our own code is formatted, linted, typed, and says nothing that it should not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from clang_format import get_executable  # type: ignore[import-untyped]

from tests.repositories import ROOT, TEMPLATE


def tracked(*patterns: str) -> list[Path]:
    """Return the files of the project: what git has, or would take."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for name in names.split("\0") if name and (path := ROOT / name).is_file()]


def run(*command: str) -> None:
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("arguments", [("check", "."), ("format", "--check", ".")], ids=" ".join)
def test_ruff(arguments: tuple[str, ...]) -> None:
    run(sys.executable, "-m", "ruff", *arguments, "--no-cache")


def test_types() -> None:
    run(sys.executable, "-m", "mypy")


def test_c_is_formatted() -> None:
    files = [path for path in tracked("*.c", "*.h") if path.parent.name != "templates"]
    assert len(files) > 20
    run(get_executable("clang-format"), "--dry-run", "-Werror", *map(str, files))


def test_only_op_yml_and_the_report_are_templates_for_jinja() -> None:
    """The report's are filled in by opkit; cookiecutter copies them as they are."""
    report = TEMPLATE / "opkit" / "report"
    templates = {TEMPLATE / "op.yml", report / "page.html", report / "plot.svg"}
    for path in tracked():
        if path.is_relative_to(TEMPLATE):
            text = path.read_text()
            holds_jinja = re.search(r"\{\{ ?cookiecutter|\{%|\{#", text) is not None
            assert holds_jinja == (path in templates), path


def test_nothing_is_left_to_do_and_no_machine_is_named() -> None:
    pattern = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b|/ro" r"ot/")
    for path in tracked():
        if "tests/data" in path.as_posix() or path == Path(__file__):
            continue
        match = pattern.search(path.read_text())
        assert match is None, f"{path}: {match and match[0]}"
