"""A repository that several files of tests share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.repositories import generate

DESCRIPTION = """\
name: Kept
inputs: {x: {type: VX_TYPE_TENSOR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
"""


@pytest.fixture(scope="package")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of DESCRIPTION; do not change it."""
    return generate(tmp_path_factory.mktemp("kept"), DESCRIPTION).path


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the repository."""
    return shutil.copytree(made, tmp_path / "Kept")
