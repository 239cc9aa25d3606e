"""Published architectures from PyTorch to a converted model, as docs/evidence.md says.

`--nightly` runs all of them, else two.
"""

from __future__ import annotations

import os
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
from tests.models.test_pytorch import torch_python

__all__ = ["torch_python"]

TABLE = architectures()
NOT_NIGHTLY = ("rt_detr, torchscript", "raft, dynamo")
TOOLKIT = os.environ.get(TOOLKIT_VARIABLE, "")


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


@pytest.mark.slow
def test_table_has_all_architectures(torch_python: str) -> None:
    assert [*TABLE] == names(torch_python)
    assert len(TABLE) == 14 * len(EXPORTERS)


@pytest.mark.slow
@pytest.mark.skipif(not TOOLKIT, reason=f"{TOOLKIT_VARIABLE} names no Python")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=[] if each in NOT_NIGHTLY else [pytest.mark.nightly])
        for each in TABLE
    ],
)
def test_row(name: str, torch_python: str, tmp_path: Path) -> None:
    toolkit = with_torch(TOOLKIT, torch_python, tmp_path / "toolkit")
    assert row(export(torch_python, name, tmp_path), toolkit) == TABLE[name]
