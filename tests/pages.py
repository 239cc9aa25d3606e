"""The pages for users: their commands, and a shell that runs them as a user does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.check.target_repositories import need
from tests.repositories import ROOT, installed_opkit

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
    line = re.sub(r"\b[\d,.]+ ?(us|ms|s|bytes)\b", r"# \1", line)
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


def tools_of_a_user(folder: Path) -> Path:
    """Make a folder with the programs of the pages, for a PATH without a compiler."""
    tools = folder / "bin"
    tools.mkdir()
    for tool in ("cat", "cp", "git"):
        (tools / tool).symlink_to(need(tool, tool))
    python = f'exec "{sys.executable}" -B -m'
    for tool, program in {
        "scons": f"{python} SCons",
        "cookiecutter": f"{python} cookiecutter",
        "rknn-op": f'PYTHONPATH="{ROOT}" {python} rknn_op',
    }.items():
        (tools / tool).write_text(f'#!/bin/sh\n{program} "$@"\n')
        (tools / tool).chmod(0o755)
    return tools


def follow_in_one_shell(text: str, folder: Path) -> None:
    """Run the commands of a text in one shell, in an environment that the text itself makes.

    On PATH are python3 and a few programs, but no compiler; nothing else is installed.
    """
    tools = folder.parent / "bin"
    tools.mkdir()
    (tools / "python3").symlink_to(Path(sys.base_prefix) / "bin/python3")
    for tool in ("cat", "cp", "git"):
        (tools / tool).symlink_to(need(tool, tool))
    commands = [*steps(text)]
    hidden = ("PYTHONPATH", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    done = subprocess.run(
        ["/bin/sh"],
        input="".join(f"{command}\necho @@$?\n" for command, _ in commands),
        cwd=folder,
        env={**{k: v for k, v in os.environ.items() if k not in hidden}, "PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    *pairs, _ = re.split(r"^@@(\d+)\n", done.stdout, flags=re.MULTILINE)
    assert len(pairs) == 2 * len(commands), done.stdout + done.stderr
    for (command, expected), output, status in zip(commands, pairs[::2], pairs[1::2], strict=True):
        assert status == "0", f"{command}\n{output}\n{done.stderr}"
        if expected is not None:
            assert_printed(expected, output.strip())


def follow(
    text: str,
    folder: Path,
    tools: Path,
    words: Mapping[str, object] = {},
    before: Mapping[str, Callable[[Path], None]] = {},
    failing: Sequence[str] = (),
    left_out: Sequence[str] = (),
) -> None:
    """Run the commands of a text in a folder, and compare their output.

    Args:
        text: the text of a page.
        folder: the folder of the first command; `cd` changes it.
        tools: the folder of the programs.
        words: word of the page -> what it stands for here.
        before: command -> what a user does before it; takes the current folder.
        failing: the beginnings of commands that end with status 1.
        left_out: the commands that do not run.
    """
    for step, expected in steps(text):
        if step in left_out:
            continue
        if step in before:
            before[step](folder)
        command = step
        if step.startswith("cd "):
            inside, _, command = step.removeprefix("cd ").partition(" && ")
            folder /= inside
        for word, value in words.items():
            command = re.sub(rf"(?<!\w){word}\b", f"'{value}'", command)
        result = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": str(tools), "PYTHONPATH": installed_opkit()},
            capture_output=True,
            text=True,
            check=False,
        )
        status = int(step.startswith(tuple(failing)))
        assert result.returncode == status, f"{step}\n{result.stdout}{result.stderr}"
        if expected is not None:
            assert_printed(expected, result.stdout.strip())
