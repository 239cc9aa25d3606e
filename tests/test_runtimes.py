"""A runtime is a folder: one that nobody knows gets files, targets and rows of its own."""

from __future__ import annotations

import ast
import json
import re
import shutil
from pathlib import Path

import pytest

from opkit import runtimes
from opkit.runtimes.interface import Runtime
from tests.repositories import TEMPLATE, Repository, generate

ROOM = Path(__file__).parent / "data/plain_runtime"
OPKIT = TEMPLATE / "opkit"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository of RKNN's to which the runtime was added later."""
    repository = generate(tmp_path_factory.mktemp("plain"), op_name="Copy")
    room = repository.path / "opkit/runtimes/plain"
    shutil.copytree(ROOM, room)
    shutil.copy(Path(__file__).parent / "c/plain_runtime.c", room)
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
