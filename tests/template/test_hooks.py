"""The hooks, rendered as by cookiecutter and then called like any module."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cookiecutter.utils import create_env_with_context

from opkit.runtimes import parse
from rknn_op.creation.plan_report import next_steps
from tests.repositories import EXAMPLES, ROOT

DESCRIPTION = """\
name: Exp
inputs: {input: {type: VX_TYPE_TENSOR}}
outputs: {output: {type: VX_TYPE_TENSOR}}"""

HOSTILE = "a'b\"c'''d\"\"\"e\\f\ng{{h}}{%i%}</script>\u2028🙂\\"


def load_hook(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **answers: Any
) -> ModuleType:
    """Render a hook with the answers and import it."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT)])
    questions = json.loads((ROOT / "cookiecutter.json").read_text())
    context = {"cookiecutter": {"_extensions": questions["_extensions"], **answers}}
    source = (ROOT / f"hooks/{name}.py").read_text()
    rendered = create_env_with_context(context).from_string(source).render(**context)
    path = folder / f"rendered_{name}.py"
    path.write_text(rendered, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder in the state before the post hook."""
    path = tmp_path / "my_exp"
    path.mkdir()
    (path / "op.yml").write_text(DESCRIPTION)
    monkeypatch.chdir(path)
    return path


@pytest.mark.parametrize("name", ["pre_gen_project", "post_gen_project"])
def test_unrendered_source_is_python(name: str) -> None:
    compile((ROOT / f"hooks/{name}.py").read_text(), name, "exec")


def test_pre_hook_accepts_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = load_hook("pre_gen_project", tmp_path, monkeypatch, __description=DESCRIPTION)
    assert str(ROOT) == hook.OPKIT_PARENT
    assert hook.main() == 0


def test_pre_hook_refuses_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = DESCRIPTION + "\nparamz: {}"
    hook = load_hook("pre_gen_project", tmp_path, monkeypatch, __description=wrong)
    assert hook.main() == 1
    assert capsys.readouterr().err.startswith("op.yml:4: paramz: unknown key 'paramz'")


@pytest.mark.parametrize("text", [HOSTILE, "", "'", '"', '"""', "'''", "\\", "{{ 7 * 7 }}"])
def test_answers_are_not_executed(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pre = load_hook("pre_gen_project", tmp_path, monkeypatch, __description=text)
    assert text == pre.DESCRIPTION
    post = load_hook("post_gen_project", tmp_path, monkeypatch, _output_dir=text)
    assert text == post.OUTPUT_DIR


def test_post_hook_completes_repository(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hook = load_hook("post_gen_project", project.parent, monkeypatch, _output_dir="/somewhere")
    assert hook.main() == 0
    assert (project / "generated/exp.h").is_file()
    assert f"    cd {project}\n" in capsys.readouterr().out


def test_post_hook_without_output_dir_is_quiet(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hook = load_hook("post_gen_project", project.parent, monkeypatch)  # as cruft does
    assert hook.main() == 0
    assert capsys.readouterr() == ("", "")


def test_post_hook_is_idempotent(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = load_hook("post_gen_project", project.parent, monkeypatch)
    assert hook.main() == 0
    before = {path: path.stat().st_mtime_ns for path in project.rglob("*")}
    assert hook.main() == 0
    assert {path: path.stat().st_mtime_ns for path in project.rglob("*")} == before


def test_post_hook_invalid_description(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "op.yml").write_text("name: Exp\n")
    hook = load_hook("post_gen_project", project.parent, monkeypatch)
    assert hook.main() == 1
    assert capsys.readouterr().err.startswith("op.yml:1: inputs: is missing")
    assert [path.name for path in project.iterdir()] == ["op.yml"]


def test_next_steps_have_absolute_folder() -> None:
    spec = parse((EXAMPLES / "exp/exp.yml").read_text())
    text = next_steps(spec, Path("/home/me/work/my exp"))
    assert "    cd '/home/me/work/my exp'\n" in text
    assert "exp_compute.h and exp_reference.py" in text
