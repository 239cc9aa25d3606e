"""The files of a repository for GitHub, pre-commit and containers, which only call opkit/ci."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.marks import quick_first
from tests.repositories import ROOT, TEMPLATE, Repository, installed_opkit
from tests.rknn_op.command import git
from tests.template.conftest import DESCRIPTION

WORKFLOW = TEMPLATE / ".github/workflows/ci.yml"
WORKSPACE = ROOT / "opkit/workspace_files"
ACTION = ROOT / "opkit/ci/action.yml"


def read(path: Path) -> Any:
    return yaml.load(path.read_text(), yaml.BaseLoader)  # BaseLoader: `on` is not a boolean


@pytest.mark.parametrize("path", [WORKFLOW, ACTION], ids=["workflow", "action"])
def test_actions_are_pinned_by_commit(path: Path) -> None:
    uses = re.findall(r"uses: (.*)", path.read_text())
    assert uses
    for action in uses:
        assert action == "./.github/actions/operator" or re.fullmatch(
            r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action
        )


def test_workflow_runs_once_and_ends() -> None:
    workflow = read(WORKFLOW)
    assert workflow["on"]["push"] == {"branches": ["main", "master"]}
    assert "pull_request" in workflow["on"]
    assert workflow["permissions"] == {"contents": "read"}
    assert "github.ref" in workflow["concurrency"]["group"]
    (job,) = workflow["jobs"].values()
    assert int(job["timeout-minutes"]) <= 60
    checkout, action = job["steps"]
    assert checkout["uses"].startswith("actions/checkout@")
    assert action["with"].keys() <= read(ACTION)["inputs"].keys()


def test_checkouts_keep_no_credentials_and_updates_wait() -> None:
    workflows = [folder / ".github/workflows/ci.yml" for folder in (ROOT, TEMPLATE)]
    for workflow in (*workflows, WORKSPACE / "ci.yml"):
        text = workflow.read_text()
        assert text.count("actions/checkout@") == text.count("persist-credentials: false") > 0
    updates = yaml.safe_load((TEMPLATE / ".github/dependabot.yml").read_text())["updates"]
    assert [each["cooldown"]["default-days"] for each in updates] == [7]


def test_environments_that_messages_name_are_ignored() -> None:
    for file in (TEMPLATE / ".gitignore", WORKSPACE / "gitignore"):
        ignored = {line.lstrip("/") for line in file.read_text().splitlines()}
        assert {".venv/", ".venv-rknn2/", "build/"} <= ignored


def test_action_runs_existing_commands() -> None:
    """The action passes its inputs as data, never as text of an expression."""
    steps = [step["run"] for step in read(ACTION)["runs"]["steps"] if "run" in step]
    commands = "\n".join(steps)
    assert "${{" not in commands
    modules = re.findall(r"python -m (opkit\S+)", commands)
    assert len(modules) == 2
    for module in modules:
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file()


def test_action_and_container_install_the_lock() -> None:
    container = json.loads((TEMPLATE / ".devcontainer/devcontainer.json").read_text())
    for commands in (container["postCreateCommand"], ACTION.read_text()):
        assert "pip install --require-hashes -r requirements.lock -r requirements.txt" in commands
        assert commands.count("pip install") == 1
        assert "apt-get install -y -qq qemu-user-static" in commands


def first_step(action: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the first command of an action, without any package."""
    runs = [step for step in read(action)["runs"]["steps"] if "run" in step]
    assert runs[0]["shell"] == "python"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", runs[0]["run"]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("action", quick_first(1, [ACTION, ROOT / "opkit/ci/workspace_action.yml"]))
def test_first_step_compares_wheel_and_lock(action: Path, root: Path) -> None:
    """Both actions read the same manifest, of a repository or of a workspace."""
    assert first_step(action, root).stderr == ""
    for file in (root / "requirements.lock", next(root.glob("*.whl"))):
        before = file.read_bytes()
        file.write_bytes(before + b"other==1\n")
        changed = first_step(action, root)
        assert changed.returncode == 1
        assert changed.stderr == (
            f"::error file={file.name}::{file.name} has another hash in generated/manifest.json\n"
        )
        file.write_bytes(before)
    manifest = root / "generated/manifest.json"
    manifest.write_text(re.sub('  "lock".*\n', "", manifest.read_text()))
    assert first_step(action, root).returncode == 1


@pytest.mark.slow
def test_changed_lock_is_refused_until_it_is_accepted(root: Path) -> None:
    with (root / "requirements.lock").open("a") as file:
        file.write("other==1 --hash=sha256:00\n")
    problem = "requirements.lock: is not the file that generated/manifest.json names by its hash"
    assert hook(root).stderr.startswith(f"error: {problem}")
    repository = Repository(root)
    refused = repository.scons("check", check=False)
    assert refused.returncode == 2
    assert problem in refused.stderr
    assert "accept the change: python3 -m opkit.ci.lock" in refused.stderr
    assert not (root / "build").exists()
    printed = repository.run("opkit.ci.lock").stdout
    assert printed.startswith("generated/manifest.json: has the hash of this requirements.lock now")
    git(root, "add", ".")
    assert hook(root).returncode == 0
    (root / "requirements.lock").unlink()
    assert "requirements.lock: cannot be read" in repository.scons("-n", check=False).stderr
    assert repository.run("opkit.ci.lock", check=False).returncode == 1


@pytest.fixture
def root(root: Path) -> Path:
    """Return a repository with all files in git's index."""
    git(root, "init", "--quiet")
    git(root, "add", ".")
    return root


def hook(root: Path) -> subprocess.CompletedProcess[str]:
    """Run the command of pre-commit's hook, without a shell as pre-commit does."""
    (entry,) = read(TEMPLATE / ".pre-commit-config.yaml")["repos"]
    (command,) = entry["hooks"]
    assert (entry["repo"], command["language"]) == ("local", "system")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        shlex.split(command["entry"]),
        cwd=root,
        env={**os.environ, "PYTHONPATH": installed_opkit(), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_commit_with_generated_files_passes(root: Path) -> None:
    (root / "tests/mine.txt").write_text("not yet added")
    (root / "kept_compute.h").write_text("// being written")
    done = hook(root)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_commit_without_generated_files_is_refused(root: Path) -> None:
    (root / "op.yml").write_text(f"{DESCRIPTION}params: {{p: {{type: VX_TYPE_INT8}}}}\n")
    git(root, "add", ".")
    git(root, "rm", "--cached", "--quiet", "makefile.linux.x64")
    done = hook(root)
    assert done.returncode == 1
    assert done.stderr.startswith("error: generated/kept.h, generated/kept_params.h, ")
    assert "makefile.linux.x64" in done.stderr
    assert "op.yml" not in done.stderr.partition(": not in git")[0]
    git(root, "add", ".")
    assert hook(root).returncode == 0


def test_mistakes_are_messages(root: Path) -> None:
    shutil.rmtree(root / ".git")
    assert hook(root).stderr.startswith("error: git diff failed: ")
    (root / "op.yml").unlink()
    assert hook(root).stderr.startswith("error: op.yml: cannot be read: ")
