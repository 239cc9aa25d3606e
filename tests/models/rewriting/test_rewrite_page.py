"""docs/rewrite.md: its output is that of the command, and its numbers are those of the code."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from onnx import helper

from rknn_op.cli import main
from rknn_op.models.rewriting import half
from rknn_op.models.rewriting.form import EXACT, MAX_WEIGHTS
from tests.models.models import detector, model, saved, value, weights
from tests.models.test_graft import TOOLKIT, needs_toolkit
from tests.models.test_graft_page import without_numbers
from tests.pages import blocks, console
from tests.repositories import ROOT

PAGE = (ROOT / "docs/rewrite.md").read_text()
COMMANDS = dict(console(PAGE))
MODELS, OWN = COMMANDS


def printed(command: str) -> list[str]:
    """Run a command, which must succeed; return its lines without numbers."""
    result = CliRunner().invoke(main, command.split()[1:])
    assert result.exit_code == 0, result.output
    return [*map(without_numbers, (result.stdout + result.stderr).splitlines())]


@pytest.mark.slow
@needs_toolkit
def test_missing_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    saved(detector(), tmp_path, "detector.onnx")
    lines = printed(MODELS.replace("PYTHON", TOOLKIT))
    assert lines == [*map(without_numbers, COMMANDS[MODELS])]


def test_form_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "/conv"),
        helper.make_node("Erf", ["a"], ["y"], "/erf"),
    ]
    x, y = (value(name, [1, 4, 8, 8]) for name in ("x", "y"))
    saved(model(nodes, [x], [y], [weights("w", 4, 4, 1, 1)], 17), tmp_path, "gelu.onnx")
    (tmp_path / "rewrites").mkdir()
    [example] = blocks("python", PAGE)
    (tmp_path / "rewrites/erf.py").write_text(example)
    lines, expected = printed(OWN), [*map(without_numbers, COMMANDS[OWN])]
    assert lines[:2] == expected[:2]
    assert lines[-1] == expected[-1]


def test_numbers() -> None:
    flat = " ".join(PAGE.split())
    assert f"at most {MAX_WEIGHTS // 2**20} MB" in flat
    assert f"by {EXACT:.0e}".replace("e-0", "e-") in flat
    assert f"index above {half.LARGEST_INTEGER:,}" in flat
