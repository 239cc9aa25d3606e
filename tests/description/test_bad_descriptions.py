"""An invalid description or folder name gives one message, and nothing on disk.

The descriptions are data files. The first line of each is the expected message: exactly
`LINE: FIELD: ...` after the name of the file, then, after each ` | `, a later part of the message.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from cookiecutter.cli import main as cookiecutter_command

from opkit.description.reader import DescriptionError
from opkit.runtimes import parse
from rknn_op.cli import main as rknn_op
from tests.repositories import ROOT

FILES = sorted((ROOT / "tests/data/bad_descriptions").glob("*.yml"))

TENSORS = """\
inputs:
  input: {type: VX_TYPE_TENSOR}
outputs:
  output: {type: VX_TYPE_TENSOR}
"""


pytestmark = pytest.mark.usefixtures("folder")


def expectation(file: Path) -> tuple[str, list[str]]:
    """Return the message's beginning after the file's name, and later parts of it."""
    first = file.read_text(encoding="utf-8-sig").splitlines()[0]
    start, *further = first.removeprefix("# expect: ").split(" | ")
    return start, further


def assert_says(message: str, name: str, file: Path) -> None:
    start, further = expectation(file)
    assert message.startswith(f"{name}:{start}")
    for phrase in further:
        assert phrase in message.removeprefix(f"{name}:{start}")


def ask(*answers: str) -> str:
    """Run cookiecutter, check that it fails with one line and writes nothing; return the line."""
    before = listing()
    result = CliRunner().invoke(cookiecutter_command, [str(ROOT), "--no-input", *answers])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit), result.exception
    assert listing() == before
    assert result.output.count("\n") == 1
    return result.output.rstrip("\n")


def listing() -> list[str]:
    """Return everything in and beside the working directory."""
    return sorted(str(path) for path in Path.cwd().parent.rglob("*"))


def test_each_bad_description_has_expectation() -> None:
    assert len(FILES) >= 100
    assert all(expectation(file)[0] for file in FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_parse_error_has_line_and_field(file: Path) -> None:
    with pytest.raises(DescriptionError) as error:
        parse(file.read_text(encoding="utf-8"), "some.yml")
    assert_says(str(error.value), "some.yml", file)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_cookiecutter_stops_at_question(file: Path, folder: Path) -> None:
    (folder / "bad.yml").write_bytes(file.read_bytes())
    assert_says(ask("config=bad.yml"), "bad.yml", file)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_create_fails_before_writing(file: Path, folder: Path) -> None:
    (folder / "bad.yml").write_bytes(file.read_bytes())
    before = listing()
    result = CliRunner().invoke(rknn_op, ["create", "-c", "bad.yml", "-p", "made"])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert_says(result.stderr.removeprefix("error: "), "bad.yml", file)
    assert result.stderr.count("\n") == 1
    assert listing() == before


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("name: A\n" + TENSORS + "paramz: {}\n", id="lines"),
        pytest.param('{"name":"A","paramz":{}}', id="json"),
    ],
)
def test_description_text_is_checked_like_file(text: str) -> None:
    message = ask(f"config={text}")
    assert message.startswith("config:")
    assert "paramz: unknown key 'paramz'; did you mean 'params'?" in message


@pytest.mark.parametrize(
    "op_name",
    [
        "",
        ".",
        "..",
        "../victim",
        "a/../../victim",
        "/tmp/absolute",
        "a/b",
        "a\\b",
        "~",
        "-rf",
        " a",
        "a b",
        "a\nb",
        "a\n",
        "a\tb",
        'a"b',
        "a'b",
        "a;b",
        "$HOME",
        "{{",
        "}}",
        "{{x}}",
        "{% if %}",
        "{#",
        "{{ cookiecutter.config }}",
        "{{ 7 * 7 }}",
        "Größe",
        "a\u202eb",
        "a" * 128,
    ],
)
def test_op_name_invalid_folder_name(op_name: str, folder: Path) -> None:
    victim = folder.parent / "victim"
    victim.mkdir()
    (victim / "work").write_text("of years")
    message = ask("-o", "new", f"op_name={op_name}")
    assert message.startswith(f"op_name: invalid folder name {op_name!r}; allowed are ")
    assert (victim / "work").read_text() == "of years"


@pytest.mark.parametrize(
    ("op_name", "problem"),
    [
        ("resize-area", "is not a C identifier"),
        ("2d", "is not a C identifier"),
        ("double", "is a reserved word of C"),
        ("a.b", "has '.' or ':'"),
    ],
)
def test_op_name_without_description_names_operator(op_name: str, problem: str) -> None:
    message = ask(f"op_name={op_name}")
    assert message.startswith(f"op_name: '{op_name}' {problem}")
    assert "without a description" in message


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_existing_folder_is_untouched(kind: str, folder: Path) -> None:
    if kind == "folder":
        (folder / "MyOperator").mkdir()
        (folder / "MyOperator/work").write_text("of years")
    else:
        (folder / "MyOperator").write_text("of years")
    assert ask() == 'Error: "MyOperator" directory already exists'


@pytest.mark.parametrize(
    "path", ["nowhere.yml", "./{{cookiecutter.op_name}}", "a{% x %}", "a{# x", "a" * 5000]
)
def test_missing_file_error_has_folder(path: str, folder: Path) -> None:
    assert ask(f"config={path}").startswith(f"config: file '{path}' not found in {folder};")


def test_folder_as_description_is_refused(folder: Path) -> None:
    (folder / "sub").mkdir()
    assert ask("config=sub") == "sub: is a folder, not a file (expected an operator description)"


def test_invalid_utf8(folder: Path) -> None:
    (folder / "bad.yml").write_bytes(b"name: A\n# \xff\xfe\n")
    assert ask("config=bad.yml").startswith("bad.yml:2: not valid UTF-8")


@pytest.mark.parametrize(
    "text", ["[" * 50_000, "params: " + "{a: " * 10_000], ids=["lists", "maps"]
)
def test_deep_nesting(text: str, folder: Path) -> None:
    (folder / "bad.yml").write_text(text)
    assert ask("config=bad.yml") == "bad.yml:1: invalid YAML: nested too deeply"


def test_non_string_user_settings(folder: Path) -> None:
    settings = folder / "settings.yml"
    settings.write_text("default_context: {config: {name: A}}\n")
    message = ask("--config-file", str(settings))
    assert message == "config: must be text, not a value of another type"


def test_jinja_in_answer_is_not_rendered(folder: Path) -> None:
    text = "name: A\n" + TENSORS + 'params: {p: {type: "{{ [].append }}"}}\n'
    assert "invalid '{{ [].append }}'" in ask(f"config={text}")


def test_process_exits_1_with_one_line(folder: Path) -> None:
    command = [sys.executable, "-m", "cookiecutter", str(ROOT), "--no-input", "op_name=../victim"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout.startswith("op_name: invalid folder name '../victim'")
    assert done.stdout.count("\n") == 1
    assert not [*folder.iterdir()]
