"""`rknn-op lint`: all problems of descriptions and repositories, in three formats."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from opkit import manifest
from opkit.common.complaint import Complaint
from opkit.version import VERSION
from rknn_op.upkeep.linting import FORMATS
from tests.repositories import EXAMPLE_DESCRIPTIONS, generate
from tests.rknn_op.command import rknn_op
from tests.rknn_op.older import age_wheel

DESCRIPTION = """\
name: Copy
kernels: [cpu]
inputs:
  x: {type: VX_TYPE_TENSOR}
outputs:
  y: {type: VX_TYPE_TENSOR}
params:
  gain: {type: VX_TYPE_FLOAT32, default: 1.0}
"""
BAD = """\
name: Copy
inputs: {x: {type: VX_TYPE_TENSR}}
outputs: {y: {type: VX_TYPE_TENSOR}}
paramz: {}
"""
VERSION_LINE = f'"version": "{VERSION}"'

pytestmark = pytest.mark.usefixtures("folder")


def lint(*arguments: str) -> Result:
    result = rknn_op("lint", *arguments)
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result


def found(path: str = "repo") -> list[dict[str, Any]]:
    result = lint("--format", "json", path)
    complaints: list[dict[str, Any]] = json.loads(result.stdout)
    assert result.exit_code == bool(complaints)
    return complaints


def brief(complaints: list[dict[str, Any]]) -> list[tuple[str, int | None, str, str]]:
    return [(each["file"], each["line"], each["severity"], each["message"]) for each in complaints]


def test_many_are_linted_in_their_order() -> None:
    """By several processes, also when one of the paths is not a repository."""
    names = [f"{index}.yml" for index in range(24)]
    for name in names:
        Path(name).write_text(BAD if int(name.partition(".")[0]) % 5 == 1 else DESCRIPTION)
    result = lint("--format", "json", *names)
    assert result.exit_code == 1
    files = [each["file"] for each in json.loads(result.stdout)]
    assert list(dict.fromkeys(files)) == ["1.yml", "6.yml", "11.yml", "16.yml", "21.yml"]
    assert len(files) == 5 * len(json.loads(lint("--format", "json", "1.yml").stdout))
    Path("empty").mkdir()
    refused = lint(*names, "empty")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith("error: empty is not an operator repository")


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository; do not change it."""
    return generate(tmp_path_factory.mktemp("lint"), DESCRIPTION).path


@pytest.fixture
def repo(pristine: Path, folder: Path) -> Path:
    shutil.copytree(pristine, folder / "repo")
    return folder / "repo"


def own_wheel(repo: Path) -> str:
    """Return the name of the repository's wheel."""
    return str(json.loads((repo / manifest.PATH).read_text())["wheel"]["name"])


def edit(path: Path, there: str, instead: str) -> None:
    text = path.read_text()
    assert there in text
    path.write_text(text.replace(there, instead))


def test_examples_have_no_problems() -> None:
    result = lint(*map(str, EXAMPLE_DESCRIPTIONS))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "no problems\n")


def test_text_has_line_for_each_complaint(folder: Path) -> None:
    (folder / "bad.yml").write_text(BAD)
    (folder / "good.yml").write_text(DESCRIPTION)
    result = lint("good.yml", "bad.yml", "none.yml")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "bad.yml:2: inputs.x.type: invalid 'VX_TYPE_TENSR' (expected VX_TYPE_TENSOR)",
        "bad.yml:4: paramz: unknown key 'paramz'; did you mean 'params'? (expected name, framework,"
        " target_platform, runtimes, inputs, outputs, params, elementwise, sources, include,"
        " cflags, threads, fp16_math, kernels, kernel_index, vx_version)",
        "none.yml: cannot be read: No such file or directory",
    ]
    assert result.stderr == "3 problems\n"


def test_notes_are_not_problems(folder: Path) -> None:
    text = DESCRIPTION.replace("kernels: [cpu]", "runtimes: [rknn2]")
    text = text.replace("gain: {type: VX_TYPE_FLOAT32, default: 1.0}", "q_gain: {type: float}")
    (folder / "noted.yml").write_text(text)
    result = lint("noted.yml")
    assert result.stdout.startswith("noted.yml:8: params.q_gain: librknnrt 1.6.0 hands over no ")
    assert (result.exit_code, result.stderr) == (0, "no problems\n")


def test_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.yml")
    result = lint("pipe.yml")
    assert result.stdout.startswith("pipe.yml: is a device or a pipe, not a file")


def test_json_has_documented_keys(folder: Path) -> None:
    (folder / "bad.yml").write_text(BAD)
    first, second = found("bad.yml")
    assert first == {
        "file": "bad.yml",
        "line": 2,
        "column": 20,
        "field": "inputs.x.type",
        "message": "invalid 'VX_TYPE_TENSR' (expected VX_TYPE_TENSOR)",
        "severity": "error",
        "hint": "",
    }
    assert second["hint"] == "did you mean 'params'?"


def test_github_escapes_ends_of_commands() -> None:
    complaints = [
        Complaint("a,b:c%.yml", "50%\r\ngone: a, b", 3, 4, "params.p", hint="write\n\nmore\n"),
        Complaint("old.whl", "is old", severity="warning"),
    ]
    assert FORMATS["github"](complaints) == (
        "::error file=a%2Cb%3Ac%25.yml,line=3,col=4,title=params.p::"
        "50%25%0D%0Agone: a, b; write%0A%0Amore\n"
        "::warning file=old.whl,title=rknn-op lint::is old\n"
    )


def test_usage() -> None:
    assert lint("--format", "xml", ".").exit_code == 2
    refused = lint(".")
    assert refused.exit_code == 1
    assert "not an operator repository" in refused.stderr
    assert lint().stderr == refused.stderr  # the current folder


def test_new_repository_has_no_problems(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path: path.read_bytes() for path in repo.rglob("*") if path.is_file()}
    assert found() == []
    monkeypatch.chdir(repo)
    assert found(".") == []
    assert before == {path: path.read_bytes() for path in repo.rglob("*") if path.is_file()}


def test_param_that_op_yml_no_longer_has(repo: Path) -> None:
    edit(repo / "copy_compute.h", "(void)params;", "(void)params->gain; /* params->other */")
    edit(repo / "copy_reference.py", "    # Write the real math", '    params["gain"]\n    #')
    assert [each["file"] for each in found()] == ["repo/rknn_op_copy.py"]  # embeds the text
    edit(repo / "op.yml", "gain:", "scale:")
    stale, (math, numpy) = found()[:-2], found()[-2:]
    assert {each["file"] for each in stale} >= {"repo/generated/copy.h"}
    assert all("run `scons`" in each["hint"] for each in stale)
    problem = "'gain' is not in the params (expected scale)"
    line = (repo / "copy_compute.h").read_text().split("(void)params->gain")[0].count("\n")
    assert brief([math]) == [("repo/copy_compute.h", line + 1, "error", problem)]
    assert brief([numpy])[0][0::3] == ("repo/copy_reference.py", problem)
    text = (repo / "copy_reference.py").read_text().splitlines()
    assert text[numpy["line"] - 1][numpy["column"] - 1 :] == '"gain"]'


def test_param_without_use_in_c(repo: Path) -> None:
    edit(repo / "copy_compute.h", "Write the real math here.", "Only copies.")
    message = "param 'gain' is not read"
    assert brief(found()) == [("repo/copy_compute.h", None, "error", message)]
    edit(repo / "copy_compute.h", "(void)params;", "(void)params->gain;")
    assert found() == []


def test_missing_source_has_its_line(repo: Path) -> None:
    (repo / "op.yml").write_text(f"{DESCRIPTION}sources: [a.c]\n")
    message = "file a.c not found in the repository"
    edit(repo / "generated/copy.h", "gain", "loss")
    first, *others = brief(found())
    assert first == ("repo/op.yml", 9, "error", message)
    assert "repo/generated/copy.h" in [file for file, *_ in others]


def test_changed_lock(repo: Path) -> None:
    file = repo / "requirements.lock"
    before = file.read_bytes()
    file.write_bytes(before.replace(b"numpy==", b"numpy>="))
    problem = "is not the file that generated/manifest.json names by its hash"
    assert brief(found()) == [("repo/requirements.lock", None, "error", problem)]
    file.unlink()
    (message,) = [each["message"] for each in found()]
    assert message == "cannot be read: No such file or directory"
    file.write_bytes(before)
    assert found() == []


def test_added_runtime(repo: Path) -> None:
    """All runtimes are in opkit: the next `scons` writes the missing files."""
    (repo / "op.yml").write_text(f"{DESCRIPTION}runtimes: [rknn, rknn2]\n")
    complaints = found()
    assert {each["message"] for each in complaints} >= {"not found"}
    assert not any(each["file"].startswith("repo/opkit") for each in complaints)


def test_generated_files_of_another_version_are_not_compared(repo: Path) -> None:
    edit(repo / "generated/copy.h", "gain", "loss")
    version = age_wheel(repo)
    (complaint,) = found()
    assert complaint["file"] == f"repo/{own_wheel(repo)}"
    assert complaint["message"].startswith(f"is of version {version}; this command is of ")
    assert complaint["severity"] == "warning"
    assert complaint["hint"] == "`rknn-op update` brings the repository to this version"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Path.unlink, "cannot be read: No such file or directory"),
        (
            lambda wheel: wheel.write_bytes(b""),
            "is not the file that the manifest names by its hash",
        ),
    ],
)
def test_lost_wheel(repo: Path, change: Callable[[Path], object], message: str) -> None:
    wheel = repo / own_wheel(repo)
    change(wheel)
    (complaint,) = found()
    assert complaint["file"] == f"repo/{wheel.name}"
    assert (complaint["severity"], complaint["message"]) == ("error", message)
    assert complaint["hint"] == "restore it (`git checkout`), or run `rknn-op update`"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda repo: (repo / "copy_compute.h").unlink(),
            [("copy_compute.h", None, "error", "not found")],
        ),
        (
            lambda repo: edit(repo / "op.yml", "VX_TYPE_FLOAT32", "VX_TYPE_FLOAT31"),
            [("op.yml", 9, "error", "invalid 'VX_TYPE_FLOAT31' (expected VX_TYPE_BOOL, ")],
        ),
        (
            lambda repo: edit(repo / "generated/copy.h", "gain", "loss"),
            [("generated/copy.h", None, "error", "is not what op.yml and the reference make it")],
        ),
        (
            lambda repo: (repo / "generated/copy.h").unlink(),
            [("generated/copy.h", None, "error", "not found")],
        ),
        (
            lambda repo: edit(repo / manifest.PATH, VERSION_LINE, '"version": "99.0.0"'),
            [(manifest.PATH, None, "error", "version 99.0.0 of rknn-op-template wrote this ")],
        ),
        (
            lambda repo: edit(repo / manifest.PATH, VERSION_LINE, '"version": "new"'),
            [(manifest.PATH, None, "error", "invalid manifest; restore it ")],
        ),
        (
            lambda repo: (repo / "copy_reference.py").write_text("def ("),
            [("copy_reference.py", None, "error", "")],
        ),
    ],
)
def test_problems_of_repositories(
    change: Callable[[Path], object], expected: list[tuple[str, int, str, str]], repo: Path
) -> None:
    change(repo)
    complaints = brief(found())
    assert [each[:3] for each in complaints] == [(f"repo/{e[0]}", *e[1:3]) for e in expected]
    for (*_, message), (*_, start) in zip(complaints, expected, strict=True):
        assert message.startswith(start)


@pytest.mark.parametrize(
    ("change", "file", "message"),
    [
        (lambda path: (path / "build").symlink_to("/tmp"), "repo/build", "is a link to /tmp"),
        (
            lambda path: (path / "SConstruct").write_text("a(\n"),
            "repo/SConstruct",
            "not valid Python",
        ),
        (lambda path: (path / manifest.PATH).unlink(), f"repo/{manifest.PATH}", "not found"),
        (
            lambda path: (
                (path / "generated/copy.h").unlink(),
                (path / "generated/copy.h").mkdir(),
            ),
            "repo/generated/copy.h",
            "is a folder",
        ),
        (
            lambda path: (
                (path / "docs/cases.md").unlink(),
                (path / "docs/cases.md").symlink_to("x"),
            ),
            "repo/docs/cases.md",
            "is a link to x",
        ),
    ],
)
def test_refusals_of_scons(
    repo: Path, change: Callable[[Path], object], file: str, message: str
) -> None:
    """Each of these stops `scons`, although op.yml is valid."""
    change(repo)
    places = [(each["file"], each["message"]) for each in found()]
    assert any(place == file and problem.startswith(message) for place, problem in places), places


def test_path_that_compilers_cannot_read(repo: Path) -> None:
    other = repo.rename(repo.with_name('a"b'))
    (problem,) = found(other.name)
    assert problem["file"] == other.name
    assert problem["message"].startswith("the folder's path holds")
