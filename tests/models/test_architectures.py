"""Published architectures from PyTorch to a converted model, as docs/evidence.md says.

Only `--nightly` runs them; by day, test_pytorch.py exports and converts a smaller one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from docs.site.evidence import architectures
from tests.models.architecture_table import (
    EXPORTERS,
    TOOLKIT_VARIABLE,
    export,
    names,
    row,
    with_torch,
)
from tests.models.test_graft import MISTAKES
from tests.models.test_pytorch import torch_python
from tests.rknn_op.command import process

__all__ = ["torch_python"]

TABLE = architectures()
WITH_MISTAKES = ("rt_detr, torchscript", "raft, dynamo")
TOOLKIT = os.environ.get(TOOLKIT_VARIABLE, "")


WRONG = """

_right = reference


def reference(inputs, params):
    y = _right(inputs, params)["y"]
    return {{"y": {}}}
"""
"""The end of a reference file with a mistake."""


def converted() -> set[str]:
    """Return the architectures that reach the chip's format from at least one exporter."""
    return {
        name.split(", ")[0]
        for name, found in TABLE.items()
        if found["built"] and found["made"] == found["green"] and found["nodes"] == found["equal"]
    }


def test_most_architectures_are_converted() -> None:
    assert len(converted()) >= 10
    for found in TABLE.values():
        assert found["built"] or found["reasons"] or found["refused"]


def test_missing_operators_are_rewritten() -> None:
    """All of them in the models that the toolkit builds; it refuses the others rewritten, too."""
    nodes = 0
    for found in TABLE.values():
        assert found["rewritten"] == (found["cleaned"] if found["built"] else {})
        nodes += sum(found["rewritten"].values())
    assert nodes >= 90


@pytest.mark.slow
def test_table_has_all_architectures(torch_python: str) -> None:
    assert [*TABLE] == names(torch_python)
    assert len(TABLE) == 14 * len(EXPORTERS)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.skipif(not TOOLKIT, reason=f"{TOOLKIT_VARIABLE} names no Python")
@pytest.mark.parametrize("name", TABLE)
def test_row(name: str, torch_python: str, tmp_path: Path) -> None:
    toolkit = with_torch(TOOLKIT, torch_python, tmp_path / "toolkit")
    model = export(torch_python, name, tmp_path)
    assert row(model, toolkit) == TABLE[name]
    if name in WITH_MISTAKES:
        assert_mistakes_are_named(model)


def assert_mistakes_are_named(model: Path) -> None:
    """Check that a wrong reference is named by its node; the outputs may hardly depend on it."""
    repository = model.parent / "operators/GridSample"
    reference = repository / "gridsample_reference.py"
    right = reference.read_text()
    for mistake in MISTAKES.values():
        reference.write_text(right + WRONG.format(mistake))
        done = process("graft", model, "-p", repository, "-o", "wrong.onnx", cwd=model.parent)
        assert done.returncode == 1, done.stdout
        found = re.search(r"^error: node '(.+)' is the first that differs: ", done.stderr, re.M)
        assert found, done.stderr
        assert "GridSample" in found[1] or "grid_sample" in found[1]
        assert not (model.parent / "wrong.onnx").exists()
