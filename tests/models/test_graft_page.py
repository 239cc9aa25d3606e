"""docs/graft.md: its output is that of the command, and its numbers are those of the code."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from rknn_op.cli import main
from rknn_op.models.differences import NPU_TOLERANCE, TOLERANCES
from tests.models.models import saved
from tests.models.test_graft import detector
from tests.pages import console
from tests.repositories import ROOT, library_kernels

PAGE = (ROOT / "docs/graft.md").read_text()
TOOLKIT = os.environ.get("RKNN_OP_RKNN2_PYTHON", "")


def without_numbers(line: str) -> str:
    """Return a line without its measured numbers and the widths of columns."""
    return " ".join(re.sub(r"(?<![\w.])\d+(\.\d+)?(e-\d+)?(?= |$)", "#", line).split())


@pytest.mark.slow
@pytest.mark.skipif(not TOOLKIT, reason="RKNN_OP_RKNN2_PYTHON names no Python")
def test_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GridSample", "TopK"):
        library_kernels(name).copy(tmp_path)
    saved(detector(), tmp_path, "head.onnx")
    [(command, expected)] = console(PAGE)
    result = CliRunner().invoke(main, command.replace("PYTHON", TOOLKIT).split()[1:])
    assert result.exit_code == 0, result.output
    printed = (result.stdout + result.stderr).splitlines()
    assert [*map(without_numbers, printed)] == [*map(without_numbers, expected)]


def test_tolerances() -> None:
    def number(tolerance: float) -> str:
        return f"{tolerance:.0e}".replace("e-0", "e-")

    words: Mapping[str, str] = {
        "float32": f"{number(TOLERANCES['float32'])} of",
        "float64": f"its largest number (float32, float64) or by {number(TOLERANCES['float16'])}",
        "simulator": f"by {number(NPU_TOLERANCE)} of the largest number",
    }
    flat = " ".join(PAGE.split())
    assert all(each in flat for each in words.values())
    assert TOLERANCES["float32"] == TOLERANCES["float64"]
