"""Repositories created from a template with a history: by cruft, and from a tag."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from opkit.version import VERSION
from rknn_op.creation.description_schema import MODELINE
from tests.check.target_repositories import need
from tests.repositories import TEMPLATE, copy_template

DESCRIPTION = """\
name: Exp
target_platform: RV1126
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
params: {zeta: {type: VX_TYPE_BOOL, default: true}, alpha: {type: VX_TYPE_INT8, default: 1}}
"""


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={
            **os.environ,
            "HOME": str(cwd),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def cruft(*arguments: str, cwd: Path) -> str:
    return run(sys.executable, "-m", "cruft", *arguments, cwd=cwd)


def commit_all(folder: Path) -> None:
    run("git", "add", "-A", cwd=folder)
    run("git", "commit", "-q", "-m", "change", cwd=folder)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the template as a separate git repository."""
    need("git", "git")
    folder = copy_template(tmp_path_factory.mktemp("cruft") / "template")
    run("git", "init", "-q", "-b", "main", cwd=folder)
    commit_all(folder)
    return folder


@pytest.mark.slow
def test_create_and_update(template: Path, tmp_path: Path) -> None:
    (tmp_path / "exp.yml").write_text(DESCRIPTION)
    made = cruft(
        "create", str(template), "--no-input", "--extra-context", '{"config": "exp.yml"}',
        cwd=tmp_path,
    )  # fmt: skip
    assert "cd " not in made
    project = tmp_path / "Exp"
    assert (project / "op.yml").read_text() == MODELINE + DESCRIPTION
    header = (project / "generated/exp_params.h").read_bytes()
    reference = project / "exp_reference.py"
    reference.write_text(reference.read_text() + "\n# mine\n")
    run("git", "init", "-q", cwd=project)
    commit_all(project)

    # The description file of the answer is deleted, and the template changes in each part.
    (tmp_path / "exp.yml").unlink()
    platforms = template / "opkit/runtimes/rknn/boards.py"
    platforms.write_text(platforms.read_text() + "\n# new in opkit\n")
    hook = template / "hooks/post_gen_project.py"
    hook.write_text(hook.read_text() + "\n# new in a hook\n")
    settings = template / TEMPLATE.name / "pytest.ini"
    settings.write_text(settings.read_text() + "# new in a file\n")
    commit_all(template)
    shown = cruft("update", "--skip-apply-ask", cwd=project)

    assert "has been updated" in shown
    assert "cd " not in shown
    (own,) = project.glob("*.whl")
    with zipfile.ZipFile(own) as archive:
        assert archive.read("opkit/runtimes/rknn/boards.py") == platforms.read_bytes()
    assert own.name.split("-")[1] in (project / "requirements.txt").read_text()
    assert (project / "pytest.ini").read_bytes() == settings.read_bytes()
    assert (project / "op.yml").read_text() == MODELINE + DESCRIPTION
    assert (project / "generated/exp_params.h").read_bytes() == header
    assert reference.read_text().endswith("# mine\n")
    assert not [*project.rglob("*.rej")]
    assert "up to date" in cruft("check", cwd=project)


@pytest.mark.slow
@pytest.mark.nightly
def test_create_without_description_keeps_starter(template: Path, tmp_path: Path) -> None:
    """A newer starter description does not change existing operators."""
    cruft("create", str(template), "--no-input", cwd=tmp_path)
    project = tmp_path / "MyOperator"
    run("git", "init", "-q", cwd=project)
    commit_all(project)
    before = (project / "op.yml").read_text()
    starter = template / "rknn_op/creation/description_texts.py"
    starter.write_text(starter.read_text().replace("input: {type", "picture: {type"))
    assert "picture: {type" in starter.read_text()
    commit_all(template)
    cruft("update", "--skip-apply-ask", cwd=project)
    assert (project / "op.yml").read_text() == before


@pytest.mark.slow
def test_tag_is_a_version_to_make_repositories_with(template: Path, tmp_path: Path) -> None:
    run("git", "tag", f"v{VERSION}", cwd=template)
    (template / "opkit/VERSION").write_text("99.0.0\n")
    commit_all(template)
    cookiecutter = (sys.executable, "-m", "cookiecutter", f"git+file://{template}", "--no-input")
    run(*cookiecutter, "--checkout", f"v{VERSION}", cwd=tmp_path)
    manifest = json.loads((tmp_path / "MyOperator/generated/manifest.json").read_text())
    assert manifest["version"] == VERSION
