"""The template's origin, from pip's record of an installation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rknn_op.origin import Origin, installed_from


@pytest.mark.parametrize("distribution", ["rknn_op_template", "acme_operators"])
def test_distribution_of_any_name(distribution: str, tmp_path: Path) -> None:
    """A company may rename the distribution: its files tell which one it is."""
    for name, files in (("aaa", "aaa/__init__.py,,\n"), (distribution, "rknn_op/origin.py,,\n")):
        folder = tmp_path / f"{name}-0.2.0.dist-info"
        folder.mkdir()
        (folder / "RECORD").write_text(files)
        record = {"url": f"https://git.acme/{name}", "vcs_info": {"commit_id": "c0ffee"}}
        (folder / "direct_url.json").write_text(json.dumps(record))
    assert installed_from(tmp_path) == Origin(f"https://git.acme/{distribution}", "c0ffee")


def test_no_record(tmp_path: Path) -> None:
    assert installed_from(tmp_path) is None
