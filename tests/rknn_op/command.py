"""The command, run in this process, and what it leaves."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from rknn_op.command import main


def rknn_op(*arguments: str) -> Result:
    """Return what the command prints, and its exit status."""
    return CliRunner().invoke(main, arguments)


def assert_error(result: Result, *phrases: str, status: int = 1) -> None:
    """Check that stderr is one line with all of these texts, and no traceback."""
    assert result.exit_code == status, result.output
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    for phrase in phrases:
        assert phrase in result.stderr


def snapshot(path: Path) -> dict[str, bytes]:
    """Return path -> content of all files of a folder, but for git's."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file() and ".git" not in file.relative_to(path).parts
    }
