"""Run the command in this process, and check its output and files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from rknn_op.cli import main
from tests.check.target_repositories import need
from tests.repositories import ROOT


def rknn_op(*arguments: object) -> Result:
    """Run the command; return its output and exit status."""
    return CliRunner().invoke(main, [*map(str, arguments)])


def succeeded(*arguments: object) -> Result:
    """Run the command, which must succeed; return its output."""
    result = rknn_op(*arguments)
    assert result.exit_code == 0, result.output
    return result


def assert_error(result: Result, *phrases: str, status: int = 1) -> None:
    """Check that stderr is one line with all of these phrases, without a traceback."""
    assert result.exit_code == status, result.output
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    for phrase in phrases:
        assert phrase in result.stderr


def process(
    *arguments: str | Path, cwd: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a separate process."""
    return subprocess.run(
        [sys.executable, "-m", "rknn_op", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def git(folder: Path, *arguments: str) -> str:
    """Run git as some user; return its output."""
    need("git", "git")
    names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = ["git", "-C", str(folder), *names, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(folder: Path) -> None:
    """Commit all files of a folder, in a new repository unless it is one."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "all")


def snapshot(path: Path) -> dict[str, bytes]:
    """Return path -> content of all files of a folder, except git's."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file() and ".git" not in file.relative_to(path).parts
    }
