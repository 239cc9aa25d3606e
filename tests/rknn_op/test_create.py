"""`rknn-op create`: a new operator by questions, standard input, git, and plans as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner, Result

from opkit.common import file_io
from rknn_op import template
from rknn_op.cli import main
from rknn_op.interrupt import Interrupted
from tests.check.target_repositories import need
from tests.marks import quick_first
from tests.rknn_op.command import assert_error, git, rknn_op, snapshot, succeeded

_TEXT = """\
name: Stub
{more}inputs:
  x: {{type: VX_TYPE_TENSOR}}
outputs:
  y: {{type: VX_TYPE_TENSOR}}
"""
_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A User"), ("EMAIL", "user@example.invalid"))
}


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in _IDENTITY.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))


def _answered(*arguments: str, answers: str) -> Result:
    return CliRunner().invoke(main, ["create", *arguments], input=answers)


def _op_yml(folder: str) -> str:
    return Path(folder, "op.yml").read_text(encoding="utf-8")


def test_questions_have_the_texts_of_cookiecutter() -> None:
    done = _answered("Edge", answers="rknn2\nMIT\nA User\nnone\n")
    assert done.exit_code == 0, done.output
    content = json.loads((template.ROOT / "cookiecutter.json").read_text(encoding="utf-8"))
    for question in ("runtimes", "license", "author", "extras"):
        assert content["__prompts__"][question] in done.stderr
    assert "name: Edge\nruntimes: [rknn2]\n" in _op_yml("Edge")
    assert "A User" in Path("Edge/LICENSE").read_text(encoding="utf-8")
    assert not Path("Edge/.github").exists()


def test_wrong_answer_is_asked_again() -> None:
    done = _answered("Edge", answers="rkn\npplnn\nMITT\nnone\nsome\nci\n")
    assert done.exit_code == 0, done.output
    assert "unknown 'rkn' (expected rknn, pplnn, rknn2); did you mean 'rknn'?" in done.stderr
    assert "invalid 'MITT'" in done.stderr
    assert "runtimes: [pplnn]" in _op_yml("Edge")
    assert not Path("Edge/LICENSE").exists()


@pytest.mark.parametrize(
    ("arguments", "answer", "message"),
    [
        ([], "rknn, rknn", "duplicate runtime 'rknn'; delete one of them"),
        ([], ",", "no runtime (expected rknn, pplnn, rknn2)"),
        (
            ["--target", "rk3588"],
            "rknn",
            "--target: rk3588 is a chip of RKNN-Toolkit2; answer rknn2",
        ),
    ],
)
def test_wrong_runtimes_are_asked_again(arguments: list[str], answer: str, message: str) -> None:
    done = _answered("Edge", *arguments, answers=f"{answer}\nRKNN2\nnone\nci\n")
    assert done.exit_code == 0, done.output
    assert f"Error: {message}\n" in done.stderr
    assert "runtimes: [rknn2]" in _op_yml("Edge")


def test_end_of_input_makes_nothing() -> None:
    done = _answered("Edge", answers="rknn2\n")
    assert done.exit_code == 1
    assert "pass --yes for the default answers" in done.stderr
    assert not [*Path().iterdir()]


def test_yes_asks_nothing() -> None:
    done = _answered("ops/Edge", "--yes", answers="")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert "\nname: Edge\n" in _op_yml("ops/Edge")


def test_options_answer_questions() -> None:
    options = ("--runtime", "rknn2", "--license", "none", "--extras", "none")
    assert _answered("Edge", *options, answers="").exit_code == 0
    assert "runtimes: [rknn2]" in _op_yml("Edge")


def test_target_says_the_runtime() -> None:
    succeeded("create", "Edge", "--yes", "--target", "rk3588")
    assert "runtimes: [rknn2]" in _op_yml("Edge")
    assert "target_platform: rk3588" in _op_yml("Edge")


@pytest.mark.parametrize("name", ["9x", "my-op", "int", "Exp+"])
def test_invalid_name(name: str) -> None:
    assert_error(rknn_op("create", name, "--yes"), "NAME: ")
    assert not [*Path().iterdir()]


def test_no_arguments_without_a_terminal() -> None:
    done = rknn_op("create")
    assert done.exit_code == 2
    assert "Missing NAME" in done.stderr


def test_target_of_another_runtime() -> None:
    Path("stub.yml").write_text(_TEXT.format(more="framework: tensorflow\n"), encoding="utf-8")
    options = ("create", "-c", "stub.yml", "-p", "stub", "--target", "rk3588")
    assert_error(rknn_op(*options), "rk3588 is a chip of RKNN-Toolkit2; pass --runtime rknn2\n")
    assert not Path("stub").exists()
    succeeded(*options, "--runtime", "rknn2")
    assert "\ntarget_platform: rk3588\n" in _op_yml("stub")


def test_standard_input() -> None:
    assert _answered("-c", "-", answers=_TEXT.format(more="")).exit_code == 0
    assert _op_yml("Stub").endswith(_TEXT.format(more=""))
    invalid = _answered("-c", "-", "-p", "other", answers="name: 3\n")
    assert_error(invalid, "<stdin>:1: inputs: is missing")
    assert _answered("-c", "-", "stub.yml", answers="").exit_code == 2


def test_git_commits_all_files() -> None:
    need("git", "git")
    succeeded("create", "Edge", "--yes", "--git")
    edge = Path("Edge")
    assert git(edge, "status", "--porcelain") == ""
    assert git(edge, "log", "--format=%s").startswith("Create Edge with rknn-op ")
    assert {*git(edge, "ls-files").splitlines()} == {*snapshot(edge)}
    assert_error(rknn_op("create", "Edge/Other", "--yes", "--git"), "is in the git repository")
    assert not Path("Edge/Other").exists()


@pytest.mark.parametrize("where", [["-p", "o"], ["--workspace", "ws"]])
@pytest.mark.parametrize("names", [["Selu"], ["Selu", "Mish"]])
def test_failed_git_leaves_nothing(
    where: list[str], names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    need("git", "git")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent/index")
    done = rknn_op("create", "--library", *names, *where, "--git")
    assert_error(done, "--git: `git add` failed in ", "nothing is made: correct the cause")
    assert not [*Path().iterdir()]


def _model(folder: Path) -> str:
    """Write a model with two operators that rk3588 lacks; return its path."""
    nodes = [
        onnx.helper.make_node("Selu", ["x"], ["t"]),
        onnx.helper.make_node("Asinh", ["t"], ["y"]),
    ]
    tensors = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 4]) for name in "xy"
    ]
    graph = onnx.helper.make_graph(nodes, "g", tensors[:1], tensors[1:])
    opset = [onnx.helper.make_opsetid("", 18)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), folder / "m.onnx")
    return str(folder / "m.onnx")


_FORMS = ("descriptions", "library", "model")


@pytest.mark.parametrize(
    ("form", "where"),
    quick_first(
        1,
        [
            *((form, ("-p", "deep/o")) for form in _FORMS),
            *((form, ("--workspace", "ws")) for form in _FORMS[:2]),
        ],
    ),
)
def test_interrupted_create_of_several_leaves_nothing(
    form: str, where: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Ctrl-C behind the first of several renamings."""
    inputs = tmp_path_factory.mktemp("inputs")
    for name in ("A", "B"):
        text = _TEXT.format(more="").replace("Stub", f"Stub{name}")
        (inputs / f"{name}.yml").write_text(text, encoding="utf-8")
    options = {
        "descriptions": ["-c", str(inputs / "A.yml"), str(inputs / "B.yml")],
        "library": ["--library", "Selu", "TopK"],
        "model": ["--from", _model(inputs), "--all"],
    }[form]

    def rename(path: Path, target: Path) -> None:
        usual(path, target)
        if target.name in ("StubA", "Selu"):
            raise Interrupted

    usual = Path.rename
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "rename", rename)
        with pytest.raises(Interrupted):
            rknn_op("create", *where, *options)
    assert not [*Path().iterdir()]
    succeeded("create", *where, *options)
    assert len([*Path().glob("**/op.yml")]) == 2


def test_folders_of_killed_runs_are_deleted() -> None:
    """Those of running processes stay."""
    for name in (".rknn-op-new-dead", ".rknn-op-new-alive", ".new"):
        Path("o", name, "0").mkdir(parents=True)
    with file_io.opened_folder(Path("o/.rknn-op-new-alive")) as alive:
        file_io.lock(alive)
        succeeded("create", "--library", "Selu", "-p", "o/Selu")
    assert {each.name for each in Path("o").iterdir()} == {"Selu", ".rknn-op-new-alive", ".new"}


def test_operator_named_twice() -> None:
    refused = rknn_op("create", "--library", "Selu", "selu", "-p", "o")
    assert_error(refused, "o/Selu would be made twice; name each operator once")
    assert not [*Path().iterdir()]


def test_git_without_an_identity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    need("git", "git")
    for name in _IDENTITY:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    assert_error(rknn_op("create", "Edge", "--yes", "--git"), "git config --global user.name")
    assert not [*Path().iterdir()]


def test_git_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert_error(rknn_op("create", "Edge", "--yes", "--git"), "git not found")
    assert not [*Path().iterdir()]


def test_dry_run_as_json() -> None:
    for name in ("a.yml", "b.yml"):
        text = _TEXT.format(more="").replace("Stub", f"Stub{name[0]}")
        Path(name).write_text(text, encoding="utf-8")
    Path("wrong.yml").write_text("name: 3\n", encoding="utf-8")
    before = snapshot(Path())
    for words in (["Edge", "--yes"], ["-c", "a.yml"], ["--library", "Selu"]):
        (found,) = json.loads(rknn_op("create", *words, "--dry-run", "--json").stdout)
        assert {"folder", "operator", "runtimes", "target", "files", "warnings"} == {*found}
    done = rknn_op("create", "-c", "a.yml", "wrong.yml", "b.yml", "-p", "o", "--dry-run", "--json")
    assert done.exit_code == 1
    assert [each["folder"] for each in json.loads(done.stdout)] == ["o/Stuba", "o/Stubb"]
    assert snapshot(Path()) == before
    assert rknn_op("create", "-c", "a.yml", "--json").exit_code == 2
