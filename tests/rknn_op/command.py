"""Run the command in this process, and check its output and files."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from rknn_op.cli import main


def rknn_op(*arguments: str) -> Result:
    """Run the command; return its output and exit status."""
    return CliRunner().invoke(main, arguments)


def assert_error(result: Result, *phrases: str, status: int = 1) -> None:
    """Check that stderr is one line with all of these phrases, without a traceback."""
    assert result.exit_code == status, result.output
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    for phrase in phrases:
        assert phrase in result.stderr


def snapshot(path: Path) -> dict[str, bytes]:
    """Return path -> content of all files of a folder, except git's."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file() and ".git" not in file.relative_to(path).parts
    }
