"""A runtime is a folder: one that nobody knows gets files, targets and rows of its own."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from opkit import runtimes
from opkit.runtimes.interface import Runtime
from rknn_op_template import with_runtimes
from tests.repositories import EXAMPLES, ROOT, TEMPLATE, Repository, copy_template, generate

ROOM = Path(__file__).parent / "data/plain_runtime"
OPKIT = TEMPLATE / "opkit"


def add_room(repository: Path) -> None:
    """Lay the runtime beside the others of a repository, or of the template."""
    room = repository / "opkit/runtimes/plain"
    shutil.copytree(ROOM, room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).parent / "c/plain_runtime.c", room)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository of RKNN's to which the runtime was added later."""
    repository = generate(tmp_path_factory.mktemp("plain"), op_name="Copy")
    add_room(repository.path)
    description = repository.path / "op.yml"
    description.write_text(f"runtimes: [rknn, plain]\n{description.read_text()}")
    tests = repository.path / "tests/test_copy.py"
    tests.write_text(tests.read_text().replace("float16", "float32").split("\n\n\n@pytest")[0])
    with tests.open("a") as file:
        file.write(
            '\n\n\n@pytest.mark.parametrize("case", CASES, ids=str)\n'
            "def test_cpu_kernel(case):\n    check_cpu_kernel(case)\n"
        )
    return repository


def test_it_is_checked_and_reported_beside_the_other(plain: Repository) -> None:
    checked = plain.scons("check")
    assert "write plain/NOTES.md: op.yml asks for it" in checked.stdout
    assert re.search(
        r"^CPU kernel, plain +7-float32-uniform +0 +0 +[\d.]+ us", checked.stdout, re.MULTILINE
    )
    assert "checked CPU kernel: 6 cases; CPU kernel, plain: 6 cases" in checked.stdout
    plain.scons("report")
    assert "CPU kernel, plain" in (plain.path / "build/report.html").read_text()


def test_its_files_are_owned_like_others(plain: Repository) -> None:
    plain.scons("target=x64")
    manifest = json.loads((plain.path / "generated/manifest.json").read_text())
    assert "plain/NOTES.md" in manifest["written once"]
    assert "generated/copy_plain.c" in manifest["generated"]
    notes = plain.path / "plain/NOTES.md"
    notes.unlink()
    plain.scons("target=x64")
    assert not notes.exists()  # it is the user's, who has deleted it


def test_its_targets_are_targets(plain: Repository) -> None:
    assert "|pc|x64|all)" in plain.scons("-h").stdout
    plain.scons("target=pc")
    assert (plain.path / "build/pc/operator.so").is_file()


def test_alone_it_leaves_nothing_of_the_other(plain: Repository, tmp_path: Path) -> None:
    alone = Repository(tmp_path / "Copy")
    shutil.copytree(plain.path, alone.path)
    shutil.rmtree(alone.path / "build")
    description = alone.path / "op.yml"
    text = description.read_text().replace("[rknn, plain]", "[plain]")
    description.write_text(re.sub(r"^target_platform.*\n|.*kernels:.*\n", "", text, flags=re.M))
    (alone.path / "README.md").unlink()
    shutil.rmtree(alone.path / "generated")
    tests = alone.path / "tests/test_copy.py"
    tests.write_text(tests.read_text().replace(", check_vx_kernel", ""))
    checked = alone.scons("check")
    assert "checked CPU kernel: 6 cases\n" in checked.stdout
    assert not re.search(
        "RKNN|OpenVX|rknn", (alone.path / "README.md").read_text().replace("rknn-op-template", "")
    )
    assert "rknnop" not in alone.scons("-h").stdout.replace("rknn-op-template", "")


def test_a_key_of_another_runtime_is_refused(plain: Repository) -> None:
    description = plain.path / "op.yml"
    before = description.read_text()
    description.write_text(before.replace("[rknn, plain]", "[plain]") + "\nkernel_index: 0\n")
    refused = plain.scons("target=x64", check=False)
    description.write_text(before)
    assert "kernel_index: is a key of the runtime rknn, which `runtimes` does not" in refused.stderr


# ---- A template with one more runtime ----


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the template that has the runtime, with the command `rknn-op`."""
    folder = copy_template(tmp_path_factory.mktemp("two") / "template")
    add_room(folder / TEMPLATE.name)
    shutil.copytree(ROOT / "rknn_op", folder / "rknn_op")
    shutil.copytree(EXAMPLES, folder / "examples")
    return folder


def run(template: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program of the template's, with a home of its own."""
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "PYTHONPATH": str(template)},
        capture_output=True,
        text=True,
        check=False,
    )


def answer(template: Path, folder: Path, *answers: str) -> subprocess.CompletedProcess[str]:
    return run(template, folder, "cookiecutter", str(template), "--no-input", *answers)


def rooms(repository: Path) -> list[str]:
    return sorted(path.parent.name for path in repository.glob("opkit/runtimes/*/__init__.py"))


DESCRIPTION = """\
# Ours.
name: Copy  # of the input
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}
"""


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        ((), ["rknn"]),
        (("runtimes=plain",), ["plain"]),
        (("runtimes=rknn, plain",), ["rknn", "plain"]),
        (("runtimes=plain rknn", "config=copy.yml"), ["plain", "rknn"]),
        (("config=both.yml",), ["rknn", "plain"]),
        (("runtimes=plain", "config=both.yml"), ["plain"]),
    ],
)
def test_a_repository_has_the_rooms_that_were_chosen(
    answers: tuple[str, ...], chosen: list[str], template: Path, tmp_path: Path
) -> None:
    (tmp_path / "copy.yml").write_text(DESCRIPTION)
    (tmp_path / "both.yml").write_text(DESCRIPTION + "runtimes:\n  - rknn\n  - plain  # too\n")
    done = answer(template, tmp_path, "op_name=Copy", *answers)
    assert done.returncode == 0, done.stdout
    made = tmp_path / "Copy"
    assert rooms(made) == sorted(chosen)
    text = (made / "op.yml").read_text()
    assert yaml.safe_load(text).get("runtimes", ["rknn"]) == chosen
    assert next(iter(yaml.safe_load(text))) == "name"
    assert ("target_platform" in text) == ("rknn" in chosen and "config" not in str(answers))
    assert (made / "plain/NOTES.md").is_file() == ("plain" in chosen)
    assert (made / "rknn_kernel_copy.c").is_file() == ("rknn" in chosen)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{name: A, inputs: {}}", "{runtimes: [b, a], name: A, inputs: {}}"),
        ("name: A\n# c\ninputs: {}", "name: A\n# c\nruntimes: [b, a]\ninputs: {}"),
        ("  name: A\n  inputs: {}", "  name: A\n  runtimes: [b, a]\n  inputs: {}"),
        ("name: A\nruntimes: [a]  # c\nx: y", "name: A\nruntimes: [b, a]  # c\nx: y"),
        ("runtimes:\n- a\n- b\nname: A", "runtimes:\n[b, a]\nname: A"),
    ],
)
def test_other_runtimes_change_nothing_else(text: str, expected: str) -> None:
    assert with_runtimes(text, ["b", "a"]) == expected


@pytest.mark.parametrize("names", ["plane", "rknn, plane", "", "rknn, rknn"])
def test_a_wrong_answer_makes_nothing(names: str, template: Path, tmp_path: Path) -> None:
    refused = answer(template, tmp_path, f"runtimes={names}")
    assert refused.returncode == 1
    message = refused.stdout.splitlines()[-1]
    assert "runtimes" in message
    assert "expected rknn, plain" in message or "duplicate runtime 'rknn'" in message
    assert "Traceback" not in refused.stdout + refused.stderr
    assert not (tmp_path / "MyOperator").exists()


def test_a_runtime_is_brought_into_an_old_repository(template: Path, tmp_path: Path) -> None:
    assert answer(template, tmp_path, "op_name=Copy").returncode == 0
    made = Repository(tmp_path / "Copy")
    mine = made.path / "copy_compute.h"
    mine.write_text(f"/* Mine. */\n{mine.read_text()}")
    description = made.path / "op.yml"
    description.write_text(f"{description.read_text()}runtimes: [rknn, plain]\n")

    refused = made.scons("target=x64", check=False)
    assert re.search(
        r"op.yml:\d+: runtimes\[1\]: unknown runtime 'plain' \(expected rknn\).*`rknn-op update`",
        refused.stderr,
    )
    updated = run(template, made.path, "rknn_op", "update")
    assert updated.returncode == 0, updated.stderr
    assert rooms(made.path) == ["plain", "rknn"]
    assert mine.read_text().startswith("/* Mine. */")
    made.scons("target=pc")
    assert (made.path / "plain/NOTES.md").is_file()
    assert not [*made.path.glob("opkit.*")]


def test_an_update_that_was_interrupted_is_mended(template: Path, tmp_path: Path) -> None:
    assert answer(template, tmp_path, "op_name=Copy").returncode == 0
    made = tmp_path / "Copy"
    (made / "opkit").rename(made / "opkit.old")
    (made / "opkit.new/half").mkdir(parents=True)
    assert run(template, made, "rknn_op", "update").returncode == 0
    assert rooms(made) == ["rknn"]
    assert not [*made.glob("opkit.*")]


# ---- The rooms of opkit ----


def imports(path: Path) -> set[str]:
    """Return the modules of opkit that a file imports when it is loaded."""
    names: set[str] = set()
    tree = ast.parse(path.read_text())
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("opkit"):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("opkit.") for name in names}


def sources() -> list[Path]:
    return [path for path in OPKIT.rglob("*.py") if "templates" not in path.parts]


@pytest.mark.parametrize("path", sources(), ids=lambda p: p.relative_to(OPKIT).as_posix())
def test_nothing_outside_of_a_room_knows_what_is_in_it(path: Path) -> None:
    room = OPKIT / "runtimes/rknn"
    if not path.is_relative_to(room):
        assert [name for name in imports(path) if name.startswith("runtimes.rknn")] == []


def test_descriptions_know_no_runtime() -> None:
    for path in (OPKIT / "description").glob("*.py"):
        allowed = ("description", "errors")
        assert [name for name in imports(path) if not name.startswith(allowed)] == [], path


def test_every_runtime_is_one() -> None:
    assert next(iter(runtimes.available())) == runtimes.DEFAULT
    for name, runtime in runtimes.available().items():
        assert isinstance(runtime, Runtime)
        assert runtime.name == name
