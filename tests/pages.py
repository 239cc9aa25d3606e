"""The pages for users: their commands, and a shell that runs them as a user does."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from tests.check.target_repositories import need
from tests.repositories import ROOT, made_once

README = (ROOT / "README.md").read_text()
PAGES = {path.stem: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
"""Name of each page of docs/ -> its text."""


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def console(text: str = README) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a text, by default of the README, with its documented output."""
    command, printed = "", list[str]()
    for line in "".join(blocks("console", text)).splitlines():
        if line.startswith("$ "):
            if command:
                yield command, printed
            command, printed = line[2:], []
        else:
            printed.append(line)
    if command:
        yield command, printed


def steps(text: str) -> Iterator[tuple[str, list[str] | None]]:
    """Yield all commands of a text in order, with the documented output; None: none is shown."""
    for language, block in re.findall(
        r"^```(console|sh)\n(.*?^)```", text, re.MULTILINE | re.DOTALL
    ):
        if language == "sh":
            commands = re.findall(r"^(.*<< 'END'\n(?:.*\n)*?END|.+)$", block, re.MULTILINE)
            yield from ((command, None) for command in commands)
        else:
            yield from console(f"```console\n{block}```")


def squeezed(line: str) -> str:
    """Return a line without its variable parts: times, sizes, counts, differences, widths."""
    line = re.sub(r"\b\d+ (passed|cases)\b", r"# \1", line)
    line = re.sub(r"\b[\d,.]+ ?(?:us|ms|s)\b", "# s", line)
    line = re.sub(r"\b[\d,.]+ ?bytes\b", "# bytes", line)
    line = re.sub(r"(library +)\d+", r"\1#", line)
    line = re.sub(r"\b\d(\.\d+)?e-\d\d\b|\b0\.000\d+\b", "#", line)
    return " ".join(line.split())


def assert_printed(expected: list[str], output: str) -> None:
    """Check the lines of an output in this order; `...` stands for any number of other lines."""
    lines = iter([squeezed(line) for line in output.splitlines()])
    anywhere = False
    for line in expected:
        if line == "...":
            anywhere = True
            continue
        if anywhere:
            assert squeezed(line) in lines, f"{line!r} is not in:\n{output}"
        else:
            assert squeezed(line) == next(lines, None), f"{line!r} is not next in:\n{output}"
        anywhere = False


def new_clone(folder: Path) -> Path:
    """Clone this repository into a folder, as a user does."""
    command = [need("git", "git"), "clone", "--quiet", "--no-hardlinks", str(ROOT), "clone"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "clone"


_DEMO, _TESTS, _EXTRA, *_ = (command for command, _ in steps(README))
INSTALLATION = (_DEMO, _EXTRA)
"""The commands of the README that install what its other commands need; the first runs the demo."""


def path_of_a_user(folder: Path) -> str:
    """Make a folder with python3 and a few programs, without a compiler; return it as PATH."""
    tools = folder / "bin"
    tools.mkdir()
    (tools / "python3").symlink_to(Path(sys.base_prefix) / "bin/python3")
    for tool in ("cat", "cp", "git"):
        (tools / tool).symlink_to(need(tool, tool))
    return str(tools)


def environment_of_a_user() -> Path:
    """Return the programs of the environment that INSTALLATION makes in a clone, once per run."""

    def make(folder: Path) -> None:
        clone = new_clone(folder)
        follow([f"```sh\n{_DEMO} >demo.log\n{_EXTRA}\n```\n"], clone, path_of_a_user(clone))

    return made_once("user", make).path / ".venv/bin"


class Shell:
    """A shell of a user, who has no environment variables of the tests.

    Args:
        folder: where it begins.
        path: its PATH.
        errors: the file for what commands write to stderr.
    """

    def __init__(self, folder: Path, path: str, errors: IO[str]) -> None:
        hidden = ("PYTHONPATH", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
        kept = {name: value for name, value in os.environ.items() if name not in hidden}
        self._process = subprocess.Popen(
            ["/bin/sh"],
            cwd=folder,
            env={**kept, "PATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )

    def run(self, command: str) -> tuple[int, str]:
        """Run a command; return its status and what it prints."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        print(f"{command}\necho @@$?", file=stdin, flush=True)
        printed = ""
        for line in stdout:
            text, mark, status = line.rpartition("@@")
            if mark:
                return int(status), printed + text
            printed += line
        raise AssertionError(f"{command}\n{printed}")

    def close(self) -> None:
        """End the shell."""
        self._process.communicate()


def follow(
    texts: Sequence[str],
    folder: Path,
    path: str,
    words: Mapping[str, object] = {},
    before: Mapping[str, Callable[[Path], None]] = {},
    failing: Sequence[str] = (),
    left_out: Sequence[str] = (),
) -> None:
    """Run the commands of texts in one shell, and compare what they print.

    Args:
        texts: the texts of pages; each begins in `folder`.
        folder: the folder of the first command.
        path: the user's PATH.
        words: word of a page -> what it stands for here.
        before: command -> what a user does before it; takes the current folder.
        failing: the beginnings of commands that fail.
        left_out: the commands that do not run.
    """
    with (
        tempfile.TemporaryFile("w+") as errors,
        contextlib.closing(Shell(folder, path, errors)) as shell,
    ):
        for text in texts:
            shell.run(f"cd {shlex.quote(str(folder))}")
            for step, expected in steps(text):
                if step in left_out:
                    continue
                if step in before:
                    before[step](Path(shell.run("pwd")[1].strip()))
                command = step
                for word, value in words.items():
                    command = re.sub(rf"(?<!\w){word}\b", f"'{value}'", command)
                status, printed = shell.run(command)
                errors.seek(0)
                assert (status != 0) == step.startswith(tuple(failing)), (
                    f"{step}\n{printed}{errors.read()}"
                )
                if expected is not None:
                    assert_printed(expected, printed.strip())
