"""Checks the answers to cookiecutter's questions, before any file is written.

A Jinja filter checks each answer right after its question (cookiecutter.json). On a terminal the
question is asked again, else an error ends the run with one line. A hook would be too late: the
folder exists by then, and cookiecutter deletes it when a hook fails.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
from cookiecutter.exceptions import FailedHookException
from cookiecutter.prompt import read_user_variable
from jinja2 import Environment
from jinja2.ext import Extension

ROOT = Path(__file__).resolve().parent
RKNN_OP_PARENT = ROOT if (ROOT / "rknn_op").is_dir() else ROOT.parents[1]
"""The folder with rknn_op: this one in a clone; in an installation, rknn_op has this folder."""

_write_no_bytecode = sys.dont_write_bytecode
sys.dont_write_bytecode = True  # keep the clone clean
_path = [*sys.path]
sys.path.insert(0, str(ROOT))
sys.path.append(str(RKNN_OP_PARENT))
try:
    from opkit.common.errors import OpkitError
    from opkit.common.text import did_you_mean
    from opkit.description.file import normalized, read_description
    from opkit.description.spec import OpSpec
    from opkit.repository import refuse_folder_name
    from opkit.runtimes import available, parse
    from rknn_op.creation import choices
    from rknn_op.creation.choices import NO_LICENSE, license_text
    from rknn_op.creation.description_schema import with_schema
    from rknn_op.creation.description_texts import adapted, starter
    from rknn_op.template import PROJECT

    RUNTIMES = {name: each.describe for name, each in available().items()}  # imported now
finally:
    sys.path[:] = _path
    sys.dont_write_bytecode = _write_no_bytecode

STARTER_NAME = "MyOperator"
_Checked = TypeVar("_Checked")


class Answers(Extension):
    """Checks the answers, and prevents Jinja from executing them.

    Adds the filters `operator_name`, `runtimes`, `description`, `license` and `extras`; each gets
    all answers so far. Adds the globals `opkit_parent` and `rknn_op_parent`, the folders from
    which hooks import this template's opkit and rknn_op.
    """

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        _refuse_private_variables()
        environment.filters["operator_name"] = operator_name
        environment.filters["runtimes"] = default_runtimes
        environment.filters["description"] = description
        environment.filters["license"] = license_of_answers
        environment.filters["extras"] = left_out_files
        environment.globals["opkit_parent"] = str(ROOT)
        environment.globals["rknn_op_parent"] = str(RKNN_OP_PARENT)
        self._own_sources = _own_sources()

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Return the source to compile; quote a source that is not the template's own.

        cookiecutter renders answers from the command line, and paths, as if they were templates.
        Files of the template have a name; the template's own nameless sources are known.
        """
        if name is not None or source in self._own_sources:
            return source
        return f"{{{{ {json.dumps(source, ensure_ascii=False)} }}}}"


def operator_name(answers: dict[str, Any]) -> str:
    """Check the answer to `config` and return the operator's name.

    In the answers, the description's text replaces its path, so that a replay or an update does not
    depend on a file that may have moved or changed.
    """
    _warn_of_unknown_variables()
    return _until_valid(answers, "config", "", lambda: _checked_config(answers))


def _checked_config(answers: dict[str, Any]) -> str:
    config = _text_answer(answers, "config").strip()
    if not config:
        answers["config"] = ""
        return STARTER_NAME
    text, spec = _read(config)
    answers["config"] = text
    return spec.name


def default_runtimes(answers: dict[str, Any]) -> str:
    """Check the answer to `op_name` and return the runtimes of the description."""
    default = str(answers["__name"])
    return _until_valid(answers, "op_name", default, lambda: _checked_folder(answers))


def _checked_folder(answers: Mapping[str, Any]) -> str:
    folder = _text_answer(answers, "op_name")
    try:
        refuse_folder_name(folder)
    except OpkitError as error:
        _refuse(f"op_name: {error}")
    config = answers["config"]
    spec = _parse(config, "config") if config else _check_starter(starter(folder))
    return ", ".join(spec.runtimes)


def description(answers: dict[str, Any]) -> str:
    """Check the answer to `runtimes` and return the text of op.yml, without its last newline."""
    default = _checked_folder(answers)
    return _until_valid(answers, "runtimes", default, lambda: _checked_description(answers))


def _checked_description(answers: dict[str, Any]) -> str:
    names = _text_answer(answers, "runtimes").replace(",", " ").split()
    for name in names:
        if name not in RUNTIMES:
            _refuse(f"runtimes: invalid {name!r} (expected {', '.join(RUNTIMES)})")
    text = str(answers["config"] or starter(answers["op_name"], names))
    is_adapted = list(_parse(text, "config").runtimes) != names
    found = _adapted(text, names) if is_adapted else text
    answers["config"] = text
    return with_schema(found)


def _adapted(text: str, runtimes: Sequence[str]) -> str:
    """Adapt a description to other runtimes; print a warning for each lost value."""
    try:
        text, warnings = adapted(text, runtimes, "config")
    except OpkitError as error:
        _refuse(str(error))
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return text


def license_of_answers(answers: dict[str, Any]) -> str:
    """Check the answers to `license` and `author` and return the text of LICENSE."""
    _until_valid(answers, "license", NO_LICENSE, lambda: _license(answers, ""))
    author = "author"
    return _until_valid(
        answers, author, "", lambda: _license(answers, _text_answer(answers, author))
    )


def _license(answers: Mapping[str, Any], author: str) -> str:
    choice = _text_answer(answers, "license")
    try:
        return license_text(ROOT / "licenses", choice, author, answers["op_name"])
    except OpkitError as error:
        _refuse(str(error))


def left_out_files(answers: dict[str, Any]) -> str:
    """Check the answer to `extras` and return the paths of the files to leave out, as JSON."""
    paths = _until_valid(
        answers, "extras", choices.DEFAULT_EXTRAS, lambda: _checked_extras(answers)
    )
    return json.dumps(paths)


def _checked_extras(answers: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        return choices.left_out(_text_answer(answers, "extras"))
    except OpkitError as error:
        _refuse(str(error))


def _until_valid(
    answers: dict[str, Any], question: str, default: str, check: Callable[[], _Checked]
) -> _Checked:
    """Return the result of a check; on a terminal, ask again until the answer is valid."""
    while True:
        try:
            return check()
        except FailedHookException as error:
            if not _is_interactive():
                raise
            print(error, file=sys.stderr)
        prompts = _questions()["__prompts__"]
        answers[question] = read_user_variable(question, default, prompts, "  ")


def _is_interactive() -> bool:
    """Return whether cookiecutter's command asks its questions on a terminal."""
    command = click.get_current_context(silent=True)
    asks = command is not None and command.params.get("no_input") is False
    return asks and sys.stdin.isatty()


def _check_starter(text: str) -> OpSpec:
    try:
        return parse(text, "op_name")
    except OpkitError as error:
        problem = str(error).removeprefix("op_name:1: name: ")
        _refuse(f"op_name: {problem} (without a description, it is the operator's name too)")


def _own_sources() -> frozenset[str]:
    """Return the template's own strings that cookiecutter renders: file names, defaults, hooks.

    Read for every environment: an update of a project runs two versions in one process.
    """
    defaults = (value for value in _questions().values() if isinstance(value, str))
    hooks = (path.read_text(encoding="utf-8") for path in (ROOT / "hooks").glob("*.py"))
    names = (path.name for path in (ROOT / PROJECT).iterdir() if "{" in path.name)
    return frozenset({PROJECT, *names, *defaults, *hooks})


def _questions() -> dict[str, Any]:
    """Return the content of cookiecutter.json."""
    return dict(json.loads((ROOT / "cookiecutter.json").read_text(encoding="utf-8")))


def _given_variables() -> list[str]:
    """Return the names of the variables on cookiecutter's command line."""
    command = click.get_current_context(silent=True)
    given = command.params.get("extra_context") if command else None
    return [*given] if isinstance(given, Mapping) else []


def _public_questions() -> list[str]:
    return [question for question in _questions() if not question.startswith("_")]


def _refuse_private_variables() -> None:
    """Refuse the template's own variables on the command line, which are not questions."""
    for name in _given_variables():
        if name.startswith("_"):
            _refuse(f"{name}: is private (expected {', '.join(_public_questions())})")


def _warn_of_unknown_variables() -> None:
    """Warn of unknown variables on the command line; cookiecutter ignores them silently."""
    public = _public_questions()
    for name in _given_variables():
        if name not in public:
            hint = did_you_mean(name, public) or f"there are {', '.join(public)}"
            print(f"warning: {name!r} is ignored: no such variable; {hint}", file=sys.stderr)


def _text_answer(answers: Mapping[str, Any], question: str) -> str:
    answer = answers.get(question)
    if not isinstance(answer, str):
        _refuse(f"{question}: must be text, not a value of another type")
    return answer


def _read(config: str) -> tuple[str, OpSpec]:
    path = os.path.expanduser(config)  # noqa: PTH111  Path's own raises for an unknown user
    looks_like_yaml = "\n" in config or ": " in config or config.startswith("{")
    if looks_like_yaml and not _exists(path):
        text = normalized(config)
        return text, _parse(text, "config")
    if not _exists(path):
        _refuse(
            f"config: file {config!r} not found in {Path.cwd()}; pass the path of a YAML file, "
            "its text, or nothing for a new description"
        )
    try:
        text = read_description(Path(path))
    except OpkitError as error:
        _refuse(str(error))
    return text, _parse(text, path)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # a path that is too long, or has a NUL
        return False


def _parse(text: str, file: str) -> OpSpec:
    try:
        return parse(text, file)
    except OpkitError as error:
        _refuse(str(error))


def _refuse(message: str) -> NoReturn:
    """End the run with a message; cookiecutter prints this exception as one line."""
    raise FailedHookException(message)
