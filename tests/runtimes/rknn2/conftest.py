"""Fixtures of this runtime's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtimes.rknn2.support import build_host


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the harness and the stand-in for librknnrt."""
    return build_host(tmp_path_factory.mktemp("rknn2"))
