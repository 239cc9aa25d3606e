"""The repository that `cookiecutter` generates, with and without a description."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from opkit import repository
from opkit.creation.schema import MODELINE
from opkit.creation.wheel import wheel
from opkit.description.spec import OpSpec
from opkit.runtimes import parse
from opkit.runtimes.rknn.settings import settings
from tests.repositories import EXAMPLES, ROOT, TEMPLATE, Repository, copy_template, generate

# Every file of a repository but those of opkit/, for an operator of the lower-case name {lower}.
FILES = """\
.devcontainer/devcontainer.json
.gitattributes
.github/actions/operator/action.yml
.github/dependabot.yml
.github/workflows/ci.yml
.gitignore
.pre-commit-config.yaml
README.md
SConstruct
docs/cases.md
docs/vx.md
generated/manifest.json
generated/op.schema.json
generated/openvx_stub.c
generated/{lower}.exports
generated/{lower}.h
generated/{lower}_kernels.h
generated/{lower}_params.h
include/VX/vx.h
include/VX/vx_api.h
include/VX/vx_ext_program.h
include/VX/vx_helper.h
include/VX/vx_khr_cnn.h
include/VX/vx_types.h
include/opkit/compute/half.h
include/opkit/compute/tensor.h
include/opkit/runtimes/rknn/dot_products.h
include/opkit/runtimes/rknn/kernel_hooks.h
include/opkit/runtimes/rknn/launch.h
include/opkit/runtimes/rknn/openvx.h
makefile.linux.aarch64
makefile.linux.armhf
makefile.linux.x64
op.yml
pytest.ini
requirements.lock
requirements.txt
rknn_kernel_{lower}.c
rknn_kernel_{lower}.vx
rknn_op_{lower}.py
tests/test_{lower}.py
{lower}_compute.h
{lower}_reference.py
"""

# Not in alphabetical order, so that it shows whether somebody sorts.
DESCRIPTION = """\
# A comment, and "quotes", and \\ and {{ braces }} and {% percent %} and {# hash #}.
name: Zoom
framework: tensorflow
target_platform: RV1109   # in capitals

inputs:
  picture: {type: VX_TYPE_TENSOR, doc: "{{cookiecutter.op_name}} ü 🙂"}
  about:   {type: VX_TYPE_TENSOR}
outputs:
  result: {type: VX_TYPE_TENSOR}
params:
  zeta:  {type: VX_TYPE_BOOL, default: false}
  alpha: {type: VX_TYPE_ARRAY, length: 2, default: [1, 2]}
  mu:    {type: VX_TYPE_FLOAT32, default: 0.5}
"""

HOSTILE_AUTHOR = 'J. "Q" O\'Neil $year {{ 7 * 7 }} {% if %} \\ ü'


@pytest.fixture(scope="module")
def zoom(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository made from a file, in a folder that has another name than the operator."""
    folder = tmp_path_factory.mktemp("zoom")
    (folder / "zoom.yml").write_text(DESCRIPTION)
    return generate(folder, str(folder / "zoom.yml"), "zoom-op_1.0")


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Return a repository made without any answer."""
    return generate(tmp_path_factory.mktemp("starter"))


def files_of(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )


def cookiecutter(
    folder: Path, *answers: str, template: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does, with folders of its own for what is kept or temporary."""
    home, temporary = folder / "home", folder / "tmp"
    for each in (home, temporary):
        each.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "cookiecutter", str(template), *answers],
        cwd=folder,
        env={**os.environ, "HOME": str(home), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("made", ["zoom", "starter"])
def test_generated_file_set(made: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(made).path
    expected = FILES.format(lower=repository.load(path).lower).split()
    own, _ = wheel()
    assert files_of(path) == sorted([*expected, own.name])


def test_only_op_yml_is_rendered(zoom: Repository) -> None:
    """Everything else is the same file, byte for byte, in the template and the repository."""
    rendered = ("op.yml", "{% if cookiecutter.__license %}LICENSE")
    names = [name for name in files_of(TEMPLATE) if not name.startswith(rendered)]
    assert names
    for name in names:
        assert (zoom.path / name).read_bytes() == (TEMPLATE / name).read_bytes(), name


def test_no_unrendered_braces(starter: Repository) -> None:
    for name in files_of(starter.path):
        if name.endswith((".whl", ".h")):  # C has braces of its own
            continue
        text = (starter.path / name).read_text()
        if name.startswith(".github/"):
            text = re.sub(r"\$\{\{.*?\}\}", "", text)  # the workflow's own expressions
        for leftover in ("{{", "{%", "{#", "cookiecutter"):
            assert leftover not in text, f"{name}: {leftover}"


def test_no_bytecode_in_repository(zoom: Repository, starter: Repository) -> None:
    for path in (zoom.path, starter.path):
        assert not [*path.rglob("__pycache__")]


@pytest.fixture
def copy_of_template(tmp_path: Path) -> Path:
    """Return a copy of what makes the template, without bytecode."""
    return copy_template(tmp_path / "template")


def test_template_folder_gets_no_bytecode(
    copy_of_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither while asking nor by the hooks, both of which import opkit."""

    def folders() -> list[Path]:
        found = ("opkit", TEMPLATE.name)
        return sorted(path for name in found for path in (copy_of_template / name).rglob("*"))

    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    before = folders()
    assert cookiecutter(tmp_path, "--no-input", template=copy_of_template).returncode == 0
    assert folders() == before


def test_description_is_copied_verbatim(zoom: Repository) -> None:
    assert (zoom.path / "op.yml").read_bytes() == (MODELINE + DESCRIPTION).encode()


def test_parameter_order_is_kept(zoom: Repository) -> None:
    header = (zoom.path / "generated/zoom_params.h").read_text()
    found = re.findall(r"^    ZOOM_INDEX_(\w+),", header, re.MULTILINE)
    assert found == ["PICTURE", "ABOUT", "RESULT", "ZETA", "ALPHA", "MU"]


def test_description_path_equals_text(zoom: Repository, tmp_path: Path) -> None:
    other = generate(tmp_path, DESCRIPTION, "other")
    assert files_of(other.path) == files_of(zoom.path)
    for name in files_of(other.path):
        assert (other.path / name).read_bytes() == (zoom.path / name).read_bytes(), name


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(DESCRIPTION.rstrip("\n"), id="no newline at the end"),
        pytest.param(DESCRIPTION + "\n\n", id="empty lines at the end"),
        pytest.param(DESCRIPTION.replace("\n", "\r\n"), id="windows"),
        pytest.param("\ufeff" + DESCRIPTION, id="byte order mark"),
    ],
)
def test_op_yml_line_endings(text: str, tmp_path: Path) -> None:
    (tmp_path / "zoom.yml").write_bytes(text.encode())
    made = generate(tmp_path, str(tmp_path / "zoom.yml"))
    assert made.path.name == "Zoom"
    assert (made.path / "op.yml").read_bytes() == (MODELINE + DESCRIPTION).encode()


def test_vendor_example_with_relative_path(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/resize_area.yml").write_text(
        """\
name: ResizeArea
framework: tensorflow
target_platform: RK1808
inputs:
  input:
    type: VX_TYPE_TENSOR
outputs:
  output:
    type: VX_TYPE_TENSOR
params:
  size:
    type: VX_TYPE_ARRAY
  align_corners:
    type: VX_TYPE_BOOL
"""
    )
    done = cookiecutter(tmp_path, "--no-input", "config=sub/resize_area.yml")
    assert done.returncode == 0, done.stdout
    assert done.stderr == ""
    spec = repository.load(tmp_path / "ResizeArea")
    assert [parameter.name for parameter in spec.parameters] == [
        "input",
        "output",
        "size",
        "align_corners",
    ]


def test_starter_description(starter: Repository) -> None:
    text = (starter.path / "op.yml").read_text()
    assert parse(text) == repository.load(starter.path)
    assert [p.name for p in parse(text).parameters] == ["input", "output"]
    with_params: OpSpec = parse(re.sub(r"^  # (?=\w+: )", "  ", text, flags=re.MULTILINE))
    assert [p.name for p in with_params.params] == ["size", "align_corners", "epsilon"]
    assert settings(parse(text.replace("# kernels:", "kernels:"))).kernels == ("cpu",)


def test_starter_has_folder_name(tmp_path: Path) -> None:
    made = generate(tmp_path, op_name="Relu6")
    assert repository.load(made.path).name == made.path.name == "Relu6"


def test_printed_next_steps(tmp_path: Path) -> None:
    done = cookiecutter(tmp_path, "--no-input", "op_name=Relu6", "-o", "a/b")
    assert done.returncode == 0
    assert done.stderr == ""
    assert f"    cd {tmp_path}/a/b/Relu6\n" in done.stdout
    assert "relu6_compute.h and relu6_reference.py" in done.stdout
    assert "copy its first input" in done.stdout
    assert len(done.stdout.splitlines()) < 12
    assert [*(tmp_path / "tmp").iterdir()] == []  # cookiecutter leaves what it rendered hooks into

    math = tmp_path / "a/b/Relu6/relu6_compute.h"
    math.write_text("// mine\n")
    again = cookiecutter(tmp_path, "--no-input", "op_name=Relu6", "-o", "a/b", "-f")
    assert math.read_text() == "// mine\n"
    assert "what it does is what relu6_compute.h did before." in again.stdout


def test_output_folder_with_braces(tmp_path: Path) -> None:
    folder = tmp_path / "{{ a }} {% b"
    folder.mkdir()
    done = cookiecutter(folder, "--no-input")
    assert done.returncode == 0, done.stdout
    assert (folder / "MyOperator/generated/myoperator.h").is_file()


def test_replay_without_description_file(tmp_path: Path) -> None:
    (tmp_path / "zoom.yml").write_text(DESCRIPTION)
    answers = ["config=zoom.yml", "license=mit", f"author={HOSTILE_AUTHOR}"]
    done = cookiecutter(tmp_path, "--no-input", *answers)
    assert done.returncode == 0, done.stdout
    assert done.stderr == ""
    (tmp_path / "zoom.yml").unlink()
    again = cookiecutter(tmp_path, "--replay", "-o", "again")
    assert again.returncode == 0, again.stdout
    assert (tmp_path / "again/Zoom/op.yml").read_text() == MODELINE + DESCRIPTION
    for made in (tmp_path / "Zoom", tmp_path / "again/Zoom"):
        title, _, owner, *_ = (made / "LICENSE").read_text().splitlines()
        assert title == "MIT License"
        assert re.fullmatch(r"Copyright \(c\) 20\d\d " + re.escape(HOSTILE_AUTHOR), owner)


def test_other_runtimes_leave_out_what_is_not_theirs(tmp_path: Path) -> None:
    (tmp_path / "zoom.yml").write_text(DESCRIPTION)
    done = cookiecutter(tmp_path, "--no-input", "config=zoom.yml", "runtimes=rknn2")
    assert done.returncode == 0, done.stdout
    assert "warning: config:4: target_platform: RV1109 is not for rknn2; op.yml has rk3588" in (
        done.stderr.splitlines()
    )
    spec = repository.load(tmp_path / "Zoom")
    assert (spec.runtimes, spec.target_platform) == (("rknn2",), "rk3588")
    again = cookiecutter(tmp_path, "--replay", "-o", "again")
    assert (again.returncode, again.stderr) == (0, "")
    refused = cookiecutter(tmp_path, "--no-input", "config=zoom.yml", "runtimes=")
    assert "config:3: runtimes: is empty" in refused.stdout + refused.stderr


def test_mistyped_variable_is_named(tmp_path: Path) -> None:
    done = cookiecutter(tmp_path, "--no-input", "confg=zoom.yml", "shape=1")
    assert done.stderr.splitlines() == [
        "warning: 'confg' is ignored: no such variable; did you mean 'config'?",
        "warning: 'shape' is ignored: no such variable; there are config, op_name, runtimes, "
        "license, author",
    ]
    assert done.returncode == 0


def terminal_session(folder: Path, answers: Sequence[str]) -> tuple[str, int]:
    """Answer the questions on a pseudo-terminal; return what it shows, and the exit status."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(HOME=str(folder), TERM="dumb", COLUMNS="80")
        os.execv(sys.executable, [sys.executable, "-m", "cookiecutter", str(ROOT)])
    shown = ""
    left: Iterator[str] = iter(answers)
    while select.select([terminal], [], [], 60)[0]:
        try:
            shown += os.read(terminal, 4096).decode()
        except OSError:  # the end, on Linux
            break
        shown = re.sub(r"\x1b\[[0-9;]*m", "", shown)
        if shown.endswith("): "):
            os.write(terminal, next(left).encode() + b"\n")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    return shown.replace("\r\n", "\n"), status


def test_terminal_questions(tmp_path: Path) -> None:
    example = EXAMPLES / "exp/exp.yml"
    answers = [os.path.relpath(example, tmp_path), "my_exp", "", "0bsd", ""]
    shown, status = terminal_session(tmp_path, answers)
    assert status == 0
    assert "  [1/5] Operator description (YAML file or text; Enter: a new one) (): " in shown
    assert "  [2/5] Folder to make; it names a new operator too (Exp): my_exp\n" in shown
    assert "  [3/5] Runtimes that execute the operator (of rknn, pplnn, rknn2) (rknn): \n" in shown
    assert "  [4/5] License of the new repository (of none, 0BSD, " in shown
    assert "  [5/5] Author, for the license (" in shown
    assert repository.load(tmp_path / "my_exp").name == "Exp"
    assert " the authors of my_exp\n" in (tmp_path / "my_exp/LICENSE").read_text()


def test_terminal_defaults(tmp_path: Path) -> None:
    shown, status = terminal_session(tmp_path, [""] * 5)
    assert status == 0
    assert "  [2/5] Folder to make; it names a new operator too (MyOperator): \n" in shown
    assert (tmp_path / "MyOperator/op.yml").is_file()


def test_invalid_answer_stops_questions(tmp_path: Path) -> None:
    shown, status = terminal_session(tmp_path, ["nowhere.yml"])
    assert status == 1
    assert "[2/5]" not in shown
    assert shown.splitlines()[-1].startswith("config: file 'nowhere.yml' not found")
