"""Ask for the choices of a new operator: cookiecutter's questions, with the same texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import click

from opkit import repository, runtimes
from opkit.complaint import SourceError
from opkit.description.reader import DescriptionError
from opkit.errors import OpkitError
from opkit.text import did_you_mean, shortened
from rknn_op import template
from rknn_op.creation import extras
from rknn_op.creation.license import NONE, license_text
from rknn_op.creation.new_repository import Choices, refuse_target
from rknn_op.creation.starter import starter
from rknn_op.targets import runtime_of_target

STARTER_NAME = "MyOperator"


def ask_name() -> str:
    """Ask for the name of a new operator, which is also its folder's.

    Raises:
        OpkitError: the input has ended.
    """
    return _ask("op_name", STARTER_NAME, _checked_name)


def check_name(name: str) -> None:
    """Refuse an invalid name of a new operator.

    Raises:
        OpkitError: the name is invalid.
    """
    try:
        repository.refuse_folder_name(name)
        runtimes.parse(starter(name), "NAME")
    except (DescriptionError, SourceError) as error:
        raise OpkitError(f"NAME: {error.complaint.message}") from None
    except OpkitError as error:
        raise OpkitError(f"NAME: {error}") from None


def ask_choices(name: str, given: Choices, licenses: Path = template.LICENSES) -> Choices:
    """Ask for the choices of a new operator that no option has made.

    Args:
        name: the name of the operator.
        given: the choices of the options; a license or extras of "" are to be asked for.
        licenses: the folder with the licenses' texts.

    Raises:
        OpkitError: the input has ended, or the target is unknown.
    """
    chosen = with_defaults(given)
    names = chosen.runtimes

    def checked_runtimes(answer: str) -> str:
        _check_runtimes_of(name, given.target, _names(answer))
        return answer

    if not given.runtimes:
        names = _names(_ask("runtimes", ", ".join(names), checked_runtimes))
    license = given.license

    def checked_license(answer: str) -> str:
        license_text(licenses, answer, "", name)
        return answer

    def checked_author(answer: str) -> str:
        license_text(licenses, license, answer, name)
        return answer

    def checked_extras(answer: str) -> str:
        extras.left_out(answer)
        return answer

    if not license:
        license = _ask("license", NONE, checked_license)
    author = given.author
    if not author and license.lower() != NONE:
        author = _ask("author", "", checked_author)
    more = given.extras or _ask("extras", extras.DEFAULT, checked_extras)
    return replace(chosen, runtimes=names, license=license, author=author, extras=more)


def with_defaults(given: Choices) -> Choices:
    """Return the choices with the default answers in place of missing ones.

    Raises:
        OpkitError: the target is unknown.
    """
    default = runtime_of_target(given.target.lower()) if given.target else runtimes.DEFAULT
    return replace(
        given,
        runtimes=given.runtimes or [default],
        license=given.license or NONE,
        extras=given.extras or extras.DEFAULT,
    )


def check_runtimes(names: Sequence[str]) -> None:
    """Refuse unknown runtimes.

    Raises:
        OpkitError: a name is unknown, or there is none.
    """
    expected = ", ".join(runtimes.available())
    for name in names:
        if name not in runtimes.available():
            hint = did_you_mean(name, runtimes.available())
            problem = f"unknown {shortened(name)!r} (expected {expected})"
            raise OpkitError("; ".join(filter(None, [problem, hint])))
    if not names:
        raise OpkitError(f"no runtime (expected {expected})")


def _checked_name(answer: str) -> str:
    check_name(answer)
    return answer


def _names(answer: str) -> list[str]:
    return answer.lower().replace(",", " ").split()


def _check_runtimes_of(name: str, target: str, names: Sequence[str]) -> None:
    """Refuse runtimes that the new operator cannot have.

    Args:
        name: the name of the operator.
        target: its target; empty: the runtimes' default.
        names: the runtimes.

    Raises:
        OpkitError: a runtime is unknown or a duplicate, or refuses the name or the target.
    """
    check_runtimes(names)
    if target:
        refuse_target(target, names, remedy="answer {}")
    try:
        runtimes.parse(starter(name, names), "NAME")
    except DescriptionError as error:
        hint = error.complaint.hint
        raise OpkitError("; ".join(filter(None, [error.complaint.message, hint]))) from None


def _ask(question: str, default: str, checked: Callable[[str], str]) -> str:
    """Ask until the answer is valid."""

    def value(answer: str) -> str:
        try:
            return checked(answer)
        except OpkitError as error:
            raise click.UsageError(str(error)) from None

    text = _texts()[question]
    try:
        answer: str = click.prompt(
            text, default, value_proc=value, show_default=bool(default), err=True
        )
    except click.Abort:
        raise OpkitError(f"no answer to {text!r}; pass --yes for the default answers") from None
    return answer


@cache
def _texts() -> dict[str, str]:
    """Return question -> text."""
    content = json.loads((template.ROOT / "cookiecutter.json").read_text(encoding="utf-8"))
    return dict(content["__prompts__"])
