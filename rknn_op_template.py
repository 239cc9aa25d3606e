"""Checks the answers to cookiecutter's questions, before any file is written.

A Jinja filter checks each answer right after its question (cookiecutter.json). An error ends the
run with one line. A hook would be too late: the folder exists by then, and cookiecutter deletes it
when a hook fails.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click
from cookiecutter.exceptions import FailedHookException
from jinja2 import Environment
from jinja2.ext import Extension

ROOT = Path(__file__).resolve().parent
PROJECT = "{{cookiecutter.op_name}}"
"""The template of the generated repository's folder name."""

_write_no_bytecode = sys.dont_write_bytecode
sys.dont_write_bytecode = True  # keep the clone clean
sys.path.insert(0, str(ROOT))
try:
    from opkit.creation.adaptation import adapted
    from opkit.creation.license import license_text
    from opkit.creation.schema import with_schema
    from opkit.creation.starter import starter
    from opkit.description.file import normalized, read_description
    from opkit.description.spec import OpSpec
    from opkit.errors import OpkitError
    from opkit.repository import refuse_folder_name
    from opkit.runtimes import available, parse
    from opkit.text import did_you_mean

    RUNTIMES = {name: each.describe for name, each in available().items()}  # imported now
finally:
    sys.path.remove(str(ROOT))
    sys.dont_write_bytecode = _write_no_bytecode

STARTER_NAME = "MyOperator"


class Answers(Extension):
    """Checks the answers, and prevents Jinja from executing them.

    Adds the filters `operator_name`, `runtimes`, `description` and `license`; each gets all answers
    so far. Adds the global `opkit_parent`, the folder from which hooks import this template's
    opkit.
    """

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        environment.filters["operator_name"] = operator_name
        environment.filters["runtimes"] = default_runtimes
        environment.filters["description"] = description
        environment.filters["license"] = license_of_answers
        environment.globals["opkit_parent"] = str(ROOT)
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
    config = _text_answer(answers, "config").strip()
    if not config:
        answers["config"] = ""
        return STARTER_NAME
    text, spec = _read(config)
    answers["config"] = text
    return spec.name


def default_runtimes(answers: dict[str, Any]) -> str:
    """Check the answer to `op_name` and return the runtimes of the description."""
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
    names = _text_answer(answers, "runtimes").replace(",", " ").split()
    for name in names:
        if name not in RUNTIMES:
            _refuse(f"runtimes: invalid {name!r} (expected {', '.join(RUNTIMES)})")
    if not answers["config"]:
        answers["config"] = starter(answers["op_name"], names)
    text = str(answers["config"])
    if list(_parse(text, "config").runtimes) != names:
        text = _adapted(text, names)
    return with_schema(text)


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
    choice, author = _text_answer(answers, "license"), _text_answer(answers, "author")
    try:
        return license_text(ROOT / "licenses", choice, author, answers["op_name"])
    except OpkitError as error:
        _refuse(str(error))


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
    questions = json.loads((ROOT / "cookiecutter.json").read_text(encoding="utf-8"))
    defaults = (value for value in questions.values() if isinstance(value, str))
    hooks = (path.read_text(encoding="utf-8") for path in (ROOT / "hooks").glob("*.py"))
    names = (path.name for path in (ROOT / PROJECT).iterdir() if "{" in path.name)
    return frozenset({PROJECT, *names, *defaults, *hooks})


def _warn_of_unknown_variables() -> None:
    """Warn of unknown variables on the command line; cookiecutter ignores them silently."""
    command = click.get_current_context(silent=True)
    given = command.params.get("extra_context") if command else None
    questions = [*json.loads((ROOT / "cookiecutter.json").read_text(encoding="utf-8"))]
    public = [question for question in questions if not question.startswith("_")]
    for name in given if isinstance(given, Mapping) else ():
        if name not in questions:
            hint = did_you_mean(name, public) or f"there are {', '.join(public)}"
            print(f"warning: {name!r} is ignored: no such variable; {hint}", file=sys.stderr)


def _text_answer(answers: dict[str, Any], question: str) -> str:
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
