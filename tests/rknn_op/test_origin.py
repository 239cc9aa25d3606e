"""The template's origin, from pip's record of an installation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rknn_op.template import Origin, documentation, installed_from
from tests.repositories import copy_template, settings


@pytest.mark.parametrize("distribution", ["rknn_op_template", "acme_operators"])
def test_distribution_of_any_name(distribution: str, tmp_path: Path) -> None:
    """A company may rename the distribution: its files tell which one it is."""
    for name, files in (("aaa", "aaa/__init__.py,,\n"), (distribution, "rknn_op/__init__.py,,\n")):
        folder = tmp_path / f"{name}-0.2.0.dist-info"
        folder.mkdir()
        (folder / "RECORD").write_text(files)
        record = {"url": f"https://git.acme/{name}", "vcs_info": {"commit_id": "c0ffee"}}
        (folder / "direct_url.json").write_text(json.dumps(record))
    assert installed_from(tmp_path) == Origin(f"https://git.acme/{distribution}", "c0ffee")


def test_no_record(tmp_path: Path) -> None:
    assert installed_from(tmp_path) is None


def test_documentation_is_that_of_the_version_without_passwords() -> None:
    text = documentation(Origin("https://jo:secret@git.acme/ops.git", "c0ffee" * 6))
    assert "`docs` of <https://git.acme/ops.git>, at `c0ffeec0ffee`" in " ".join(text.split())
    assert documentation(Origin("/home/jo/ops", "c0ffee")) == documentation(None) == ""


def test_readme_of_cookiecutter_names_the_documentation(tmp_path: Path) -> None:
    template = copy_template(tmp_path / "template")
    for command in (["init", "--quiet"], ["remote", "add", "origin", "https://git.acme/ops"]):
        subprocess.run(["git", "-C", str(template), *command], check=True)
    arguments = [str(template), "--no-input", "--config-file", settings()]
    command = [sys.executable, "-m", "cookiecutter", *arguments]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert "<https://git.acme/ops>, at `v" in (tmp_path / "MyOperator/README.md").read_text()
