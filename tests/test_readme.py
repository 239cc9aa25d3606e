"""The README: its commands are those of the pages, and the ones for a new clone run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opkit.runtimes.rknn import boards
from opkit.runtimes.rknn2.chips import TARGETS
from rknn_op.cli import VERBS
from tests.conftest import SLOW
from tests.marks import slow_first
from tests.pages import PAGES, README, blocks, console, environment_of_a_user
from tests.repositories import ROOT, Repository, generate
from tests.test_pages import WALK

MAX_LINES = 150  # of the README


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


def test_ci_runs_the_other_commands() -> None:
    first, *_, last = blocks("sh")
    demo, tests, site = (first + last).splitlines()
    assert blocks("sh", PAGES["index"]) == [f"{demo}\n"]
    assert demo.endswith(".venv/bin/rknn-op demo")
    commands = (ROOT / ".ci/run").read_text().splitlines()
    assert site in commands
    assert commands[-2:] == [tests, f".venv/bin/pytest -m {SLOW}"]


@pytest.mark.slow
def test_demo() -> None:
    clone = environment_of_a_user().parents[1]
    printed = (clone / "demo.log").read_text()
    shown = printed[printed.index("DeformConv: from its description") :]
    commands = re.findall(r"^\$ (\S+ ?\S*)", shown, re.MULTILINE)
    assert commands == ["rknn-op create", "scons target=rk3588", "scons check"]
    assert len(re.findall(r"^    \(\d+\.\d s\)$", shown, re.MULTILINE)) == 3
    assert re.search(r"^ *\d+ passed", shown, re.MULTILINE)
    summary = shown[shown.index("Files in ") :]
    assert max(map(len, summary.splitlines())) <= 80
    listing = shown.partition("Files in deform_conv:\n\n")[2].partition("\n\n")[0]
    files = [line.split()[0] for line in listing.splitlines()]
    assert "build/rk3588/librkcst_deformconv.so" in files
    for kernel in ("kernel  ", "CPU kernel  "):
        assert len(re.findall(f"^ +{kernel}", shown, re.MULTILINE)) == 1
    for file in files:
        assert (clone / "deform_conv" / file).is_file(), file
    table = shown.partition("Minimum version of the runtime on each target:\n\n")[2].splitlines()
    assert [line.split()[0] for line in table[1 : len(TARGETS) + 1]] == list(TARGETS)


def test_target_tables_match_platforms() -> None:
    rows = [boards.HEADINGS, ["---"] * len(boards.HEADINGS), *boards.target_rows()]
    cells = ([cell.replace("|", r"\|") for cell in row] for row in rows)
    assert "\n".join(f"| {' | '.join(row)} |" for row in cells) in PAGES["rknn"]
    assert "strings /usr/lib64/librknn_runtime.so" in PAGES["rknn"]


@pytest.mark.slow
def test_generated_readme(fresh: Repository) -> None:
    text = (fresh.path / "README.md").read_text()
    for file in re.findall(r"`([\w./]+\.(?:h|py|c|vx|yml))`", text):
        assert (fresh.path / file).is_file(), file
    for command in re.findall(r"^\| `(scons[^`]*)`", text, re.MULTILINE):
        fresh.scons("-n", *command.split()[1:])


@pytest.mark.slow
@pytest.mark.parametrize(
    "description",
    slow_first(
        2,
        [
            "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n",
            "elementwise: true\ninputs: {a: {type: VX_TYPE_TENSOR}, b: {type: VX_TYPE_TENSOR}}\n"
            "outputs: {y: {type: VX_TYPE_TENSOR}}\n",
            "runtimes: [rknn2]\ninputs: {x: {type: VX_TYPE_TENSOR, dtype: int32}}\n"
            "outputs: {y: {type: VX_TYPE_TENSOR}, z: {type: VX_TYPE_TENSOR, dtype: bool}}\n",
            "runtimes: [rknn2]\ninputs: {x: {type: VX_TYPE_TENSOR}}\n"
            "outputs: {y: {type: VX_TYPE_TENSOR, dtype: bool}}\n",
        ],
    ),
    ids=["both-kernels", "elementwise", "integers", "bool"],
)
def test_first_edit_is_green(description: str, tmp_path: Path) -> None:
    """The user's edit as the README says; without a part of it, the check is red."""
    made = generate(tmp_path, f"name: Mine\n{description}")
    text = (made.path / "README.md").read_text()
    _, _, section = text.partition("## Your first edit\n")
    section, _, _ = section.partition("\n## ")
    math, reference, *vx = re.findall(r"^```\w+\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    (name,) = re.findall(r"In `(mine_\w+\.h)`", section)
    place = r"^    return [^;]*;\n(?=})" if "scalar" in name else r"^    for \(.*?\n    }\n"
    edit(made.path / name, place, math)
    for lines in vx:
        edit(made.path / "rknn_kernel_mine.vx", "^(?=    VXC_WriteImage2DArray)", lines)
    refused = made.scons("quick=1", "check", check=False)
    assert refused.returncode != 0
    edit(made.path / "mine_reference.py", r"^    return (?!.*^    return ).*", reference)
    assert " passed" in made.scons("quick=1", "check").stdout


def edit(file: Path, place: str, text: str) -> None:
    """Replace the first match of a pattern in a file."""
    before = file.read_text()
    after = re.sub(place, lambda _: text, before, count=1, flags=re.MULTILINE | re.DOTALL)
    assert after != before
    file.write_text(after)
