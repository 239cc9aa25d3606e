"""The commands of the READMEs and of the pages for new users run, with the documented output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from opkit.runtimes.rknn import target_table
from opkit.runtimes.rknn.chips import CHIPS
from rknn_op.command import VERBS
from tests.check.target_repositories import need
from tests.models.models import detector, saved
from tests.repositories import EXAMPLES, ROOT, Repository, installed_opkit

README = (ROOT / "README.md").read_text()
PAGES = {path.stem: path.read_text() for path in (ROOT / "docs").glob("*.md")}
WALK = ("start-model", "start-description", "rknn2", "pplnn")
"""Pages whose commands run one after the other; those of each page from the same folder."""
TESTED_ELSEWHERE = ("cases", "graft", "many", "operators", "pytorch", "scan", "vx")
"""Pages with tests of their own."""
MAX_LINES = 150  # of the README


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
    yield command, printed


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


@pytest.mark.slow
def test_walkthrough(tmp_path: Path) -> None:
    """All commands of the pages run, one page after the other, on a PATH without a compiler."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("cat", "cp", "git"):
        (tools / tool).symlink_to(need(tool, tool))
    for tool, module in {"scons": "SCons", "cookiecutter": "cookiecutter"}.items():
        script = f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n'
        (tools / tool).write_text(script)
        (tools / tool).chmod(0o755)
    python_path = str(ROOT)
    (tools / "rknn-op").write_text(
        f'#!/bin/sh\nPYTHONPATH="{python_path}" exec "{sys.executable}" -B -m rknn_op "$@"\n'
    )
    (tools / "rknn-op").chmod(0o755)
    (tmp_path / "operators").mkdir()  # to which the commands add operators
    for example in EXAMPLES.iterdir():
        (tmp_path / "operators" / example.name).symlink_to(example)
    saved(detector(), tmp_path, "detector.onnx")
    description = dict(console(PAGES["start-description"]))["cat resize_area.yml"]
    (tmp_path / "resize_area.yml").write_text("\n".join(description) + "\n")
    for page in WALK:
        follow(PAGES[page], tmp_path, tools)


def follow(text: str, folder: Path, tools: Path) -> None:
    """Run the commands of a text in a folder, with the programs of another one."""
    for command, expected in console(text):
        if command.startswith("cd "):
            folder /= command.removeprefix("cd ")
            continue
        result = subprocess.run(
            ["/bin/sh", "-c", re.sub(r"\bTEMPLATE\b", f"'{ROOT}'", command)],
            cwd=folder,
            env={**os.environ, "PATH": str(tools), "PYTHONPATH": installed_opkit()},
            capture_output=True,
            text=True,
            check=False,
        )
        status = int(command.startswith("rknn-op scan"))  # 1: an operator is missing
        assert result.returncode == status, f"{command}\n{result.stdout}{result.stderr}"
        assert_printed(expected, result.stdout.strip())


def test_readme_is_short_and_has_commands_of_the_walk() -> None:
    assert len(README.splitlines()) <= MAX_LINES
    steps = iter([step for page in WALK for step in console(PAGES[page])])
    for step in console():
        assert step in steps, step[0]  # consumes the steps before it: the order is the same


def test_readme_names_every_page() -> None:
    names = {name for name in PAGES if name != "index"}
    assert names == set(re.findall(r"\]\(docs/([\w-]+)\.md\)", README))


def test_page_on_the_command_has_every_verb() -> None:
    first_column = "".join(re.findall(r"^(\| `.*?) \|", PAGES["command"], re.MULTILINE))
    listed = set(re.findall(r"`(\w+)", first_column))
    assert listed - {"rknn", "add", "eject"} == {*VERBS}


def test_inline_commands_exist() -> None:
    """Another test runs each command inside of a sentence."""
    run_elsewhere = (
        r"scons( (check|report|vx|compiledb|-h|target=\w+( check)?))?",
        r"scons (rknn_python=PATH|vx_binary=FILE)",
        r"scons( target=rv1126)? check driver=(FOLDER|board qemu=ssh:HOST)",
        r"scons ((vx-)?gdb|check) case=NAME|scons check pplnn=BUILD",
        r"scons (pplnn-apply root=PPLNN|deploy)",
        r"scons( target=\w+)? check( \w+=\S+)+",
        r"scons (sanitize=(address,undefined|thread)|verbose=1) check|scons check mutate=20",
        r"rknn-op( \.\.\.| -h| update( DIR...)?| import| create( -c \S+ -p\s\S+)?)?",
        r"rknn-op create --library NAME",
        r"rknn-op bundle -p DIR... -t rk3588 -o APP",
        r"rknn-op --action (create --config YAML|build) --op_path DIR",
        r"pip install (\.|'\.\[onnx\]')",
        r"bash \.ci/run|git diff",
        r"pip install rknn-toolkit2==2.5.0 'setuptools<81'",
    )
    text = "\n".join([README, *(PAGES[name] for name in PAGES if name not in TESTED_ELSEWHERE)])
    inline = re.findall(r"`((?:scons|rknn-op|cookiecutter|bash|pip|git)(?: [^`]*)?)`", text)
    assert inline
    for command in inline:
        words = command.replace("\n", " ")
        assert any(re.fullmatch(pattern, words) for pattern in run_elsewhere), command


def test_ci_runs_the_other_commands() -> None:
    demo, tests, site = "".join(blocks("sh")).splitlines()
    assert demo.endswith(".venv/bin/rknn-op demo")
    commands = (ROOT / ".ci/run").read_text().splitlines()
    assert site in commands
    assert commands[-1] == tests


@pytest.mark.slow
def test_demo_command_in_new_clone(tmp_path: Path) -> None:
    """The README's first command runs unchanged, with only Python on PATH."""
    demo = "".join(blocks("sh")).splitlines()[0]
    need("git", "git")
    subprocess.run(
        ["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(tmp_path / "clone")],
        check=True,
    )
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(Path(sys.base_prefix) / "bin/python3")
    result = subprocess.run(
        ["/bin/sh", "-c", demo],
        cwd=tmp_path / "clone",
        env={**os.environ, "PATH": str(tmp_path / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    shown = result.stdout[result.stdout.index("ResizeArea: from its description") :]
    commands = re.findall(r"^\$ (\S+ ?\S*)", shown, re.MULTILINE)
    assert commands == ["rknn-op create", "cp -r", "scons target=rv1126", "scons check"]
    assert len(re.findall(r"^    \(\d+\.\d s\)$", shown, re.MULTILINE)) == 4
    assert re.search(r"^ *\d+ passed", shown, re.MULTILINE)
    summary = shown[shown.index("Files in ") :]
    assert max(map(len, summary.splitlines())) <= 80
    listing = shown.partition("Files in resize_area:\n\n")[2].partition("\n\n")[0]
    files = [line.split()[0] for line in listing.splitlines()]
    assert "build/rv1126/ResizeArea.rknnop" in files
    assert re.search("checked CPU kernel: .*CPU kernel, rknn2: .*VX kernel", shown, re.DOTALL)
    for file in files:
        assert (tmp_path / "clone/resize_area" / file).is_file(), file
    table = shown.partition("Minimum version of the runtime on each target:\n\n")[2].splitlines()
    assert [line.split()[0] for line in table[1 : len(CHIPS) + 1]] == list(CHIPS)
    assert re.search(r"^ *\d+ passed", result.stdout, re.MULTILINE)
    assert "build/rv1126/ResizeArea.rknnop" in result.stdout
    assert (tmp_path / "clone/resize_area/build/rv1126/ResizeArea.rknnop").is_file()


def test_target_tables_match_platforms() -> None:
    assert target_table.markdown() in PAGES["rknn"]
    assert "strings /usr/lib64/librknn_runtime.so" in PAGES["rknn"]


def test_generated_readme(fresh: Repository) -> None:
    text = (fresh.path / "README.md").read_text()
    assert target_table.markdown() in text
    assert text.rstrip().endswith("```")
    (registering,) = blocks("python", text)
    assert 'rknn.register_op("build/rk1808/MyOperator.rknnop")' in registering
    assert registering.index("register_op") < registering.index("load_tensorflow")
    for file in re.findall(r"`([\w./]+\.(?:h|py|c|vx|yml))`", text):
        assert (fresh.path / file).is_file(), file
    for command in re.findall(r"^\| `(scons[^`]*)`", text, re.MULTILINE):
        fresh.scons("-n", *command.split()[1:])
