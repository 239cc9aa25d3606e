"""Verbs that only read or renew a repository run none of its code, nor programs that git names."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.repositories import EXAMPLES, ROOT
from tests.rknn_op.command import commit, git, rknn_op, succeeded
from tests.rknn_op.older import age, change_wheel
from tests.rknn_op.packages import PACKAGE, write

pytestmark = pytest.mark.slow

COMMAND = (
    f"import sys\nsys.path.insert(1, {str(ROOT)!r})\nfrom rknn_op.__main__ import main\nmain()\n"
)
"""The script `rknn-op`, as pip writes it: the current folder is not on Python's path."""
MODULES = (
    *("conftest.py", "sitecustomize.py", "yaml.py", "click.py", "numpy.py", "tests/conftest.py"),
    *("rknn_op/__init__.py", "ziglang/__init__.py", "build/opkit/opkit/__init__.py"),
)
VERBS = (
    ("lint", "."),
    ("lint", "op.yml"),
    ("update", "--dry-run", "--diff"),
    ("update",),
    ("update", "--allow-dirty"),
    ("inspect", "op.rknnop"),
    ("inspect", "--json", "op.rknnop"),
    ("inspect", "--extract", "sections", "op.rknnop"),
    ("diff", "op.rknnop", "other.rknnop"),
)


class Foreign:
    """A repository of an older version; its code and its git programs leave files in `ran`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "made"
        self.ran = folder / "ran"
        self.ran.mkdir()
        self.script = folder / "command.py"
        self.script.write_text(COMMAND)
        succeeded("create", "-c", EXAMPLES / "exp/exp.yml", "-p", self.root)
        age(self.root)
        write(self.root / "op.rknnop", dataclasses.replace(PACKAGE, python=self.code("package")))
        write(self.root / "other.rknnop", PACKAGE)
        self.set_python_traps()
        self.set_git_traps()

    def code(self, name: str) -> str:
        """Return Python code that leaves a file."""
        return f"open({str(self.ran / name)!r}, 'w').close()\n"

    def set_python_traps(self) -> None:
        """Add code to every file that Python may import."""
        for name in (*MODULES, "SConstruct", "exp_reference.py", "rknn_op_exp.py"):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            before = path.read_text() if path.is_file() else ""
            path.write_text(self.code(name.replace("/", "-")) + before)
        self.set_wheel_traps()

    def set_wheel_traps(self) -> None:
        """Add code to every module of the wheel; the manifest has its hash."""
        code = self.code("wheel").encode()
        change_wheel(self.root, lambda name, data: code * name.endswith("/__init__.py") + data)

    def set_git_traps(self) -> None:
        """Commit all, then name a program for everything that git runs."""
        (self.root / ".gitattributes").write_text(
            "* filter=clean diff=text\n*.yml filter=process\n*.md filter=a=b\n"
        )
        commit(self.root)
        hooks = self.root / ".git/hooks"
        for name in ("post-index-change", "pre-commit", "fsmonitor-watchman"):
            (hooks / name).write_text(f"#!/bin/sh\ntouch {self.ran}/{name}\n")
            (hooks / name).chmod(0o755)
        for key in (
            *("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "diff.external"),
            *("filter.clean.clean", "filter.clean.smudge", "filter.process.process"),
            *("diff.text.textconv", "diff.text.command", "pager.status", "pager.config"),
            *("alias.status", "core.alternateRefsCommand", "credential.helper"),
        ):
            shell = "!" if key.startswith(("alias", "credential")) else ""
            git(self.root, "config", key, f"{shell}touch {self.ran}/{key}; cat")
        git(self.root, "config", "filter.clean.required", "true")
        for path in self.root.glob("*.*"):  # then git compares the contents
            os.utime(path, (1, 1))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `rknn-op` in the repository."""
        return subprocess.run(
            [sys.executable, self.script, *arguments],
            cwd=self.root,
            env={key: text for key, text in os.environ.items() if key != "PYTHONPATH"},
            check=False,
            capture_output=True,
            text=True,
        )

    def left(self) -> list[str]:
        """Return the names of the programs that ran, and forget them."""
        names = sorted(path.name for path in self.ran.iterdir())
        for name in names:
            (self.ran / name).unlink()
        return names


@pytest.fixture
def foreign(tmp_path: Path) -> Foreign:
    """Return a repository that must not run."""
    return Foreign(tmp_path)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_nothing_of_a_foreign_repository_runs(verb: Sequence[str], foreign: Foreign) -> None:
    done = foreign.run(*verb)
    assert "Traceback" not in done.stderr
    assert foreign.left() == []


def test_traps_of_a_foreign_repository_work(foreign: Foreign) -> None:
    foreign.run("build")
    assert {"SConstruct", "wheel"} & {*foreign.left()}
    git(foreign.root, "status")
    assert {"core.fsmonitor", "filter.clean.clean", "filter.process.process"} <= {*foreign.left()}


def test_update_finds_changes_that_a_filter_would_hide(foreign: Foreign) -> None:
    """A repository with filters is compared without them."""
    (foreign.root / "exp_compute.h").write_text("changed")
    done = foreign.run("update")
    assert done.returncode == 1
    assert "has changes that are not committed (exp_compute.h); commit them" in done.stderr


def test_invalid_name_of_a_filter_is_refused(foreign: Foreign) -> None:
    """Git would not read the option that turns off this filter."""
    git(foreign.root, "config", "filter.a=b.clean", f"touch {foreign.ran}/invalid; cat")
    done = foreign.run("update")
    assert "git's configuration has an invalid name: 'filter.a=b.clean'" in done.stderr
    assert foreign.left() == []


def test_update_fetches_no_missing_objects(foreign: Foreign) -> None:
    """A partial clone names the program that fetches the missing objects."""
    git(foreign.root, "config", "remote.origin.url", f"ext::touch {foreign.ran}/fetched")
    git(foreign.root, "config", "protocol.ext.allow", "always")
    for key in ("remote.origin.promisor", "extensions.partialClone"):
        git(foreign.root, "config", key, "true" if key.endswith("promisor") else "origin")
    git(foreign.root, "config", "core.repositoryFormatVersion", "1")
    for path in (foreign.root / ".git/objects").glob("??/*"):
        path.unlink()
    foreign.run("update")
    assert foreign.left() == []


@pytest.mark.parametrize("verb", ["build", "check"])
def test_help_names_the_code_that_runs(verb: str) -> None:
    usage, _, first, *_ = rknn_op(verb, "--help").stdout.splitlines()
    assert usage.startswith("Usage:")
    assert "the repository's own code" in first
