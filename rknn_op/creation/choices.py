"""The user's choices for a new operator besides its description, and the questions for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from string import Template

import click

from opkit import repository, runtimes
from opkit.common.complaint import SourceError
from opkit.common.errors import OpkitError
from opkit.common.text import did_you_mean, shortened
from opkit.description import describe
from opkit.description.reader import DescriptionError
from rknn_op import template
from rknn_op.creation.description_texts import starter

# ---- Files around the operator: CI, dependency updates, git hooks, a container ------------------

DEFAULT_EXTRAS = "ci"
_CI = (".github/workflows/ci.yml",)
_OTHERS = (".devcontainer/devcontainer.json", ".github/dependabot.yml", ".pre-commit-config.yaml")
_LEFT_OUT = {"none": (*_CI, *_OTHERS), DEFAULT_EXTRAS: _OTHERS, "all": ()}
"""Choice -> the paths of the template's files that a repository does not get."""
EXTRAS = tuple(_LEFT_OUT)


def left_out(choice: str) -> tuple[str, ...]:
    """Return the paths of the template's files that a repository does not get.

    Args:
        choice: one of EXTRAS, in any case.

    Raises:
        OpkitError: the choice is unknown.
    """
    if choice.lower() not in _LEFT_OUT:
        raise OpkitError(f"extras: invalid {choice[:40]!r} (expected {', '.join(EXTRAS)})")
    return _LEFT_OUT[choice.lower()]


# ---- License -------------------------------------------------------------------------------------

NO_LICENSE = "none"
"""The choice of no license: no statement on the use by others."""
_MAX_AUTHOR = 200  # characters


def license_text(texts: Path, choice: str, author: str, folder: str) -> str:
    """Return the text of LICENSE; empty for NO_LICENSE.

    Args:
        texts: the folder with the licenses' texts; the files have SPDX identifiers as names.
        choice: one of these names, in any case, or NO_LICENSE.
        author: the copyright holder; empty: "the authors of" the new repository.
        folder: the name of the new repository.

    Raises:
        OpkitError: the license is unknown, or the author is too long or unprintable.
    """
    names = {path.name.lower(): path for path in sorted(texts.iterdir())}
    if choice.lower() not in {NO_LICENSE, *names}:
        allowed = ", ".join([NO_LICENSE, *(path.name for path in names.values())])
        raise OpkitError(f"license: invalid {choice[:40]!r} (expected {allowed})")
    if not author.isprintable() or len(author) > _MAX_AUTHOR:
        raise OpkitError(
            f"author: invalid {author[:40]!r} (expected up to {_MAX_AUTHOR} printable characters)"
        )
    if choice.lower() == NO_LICENSE:
        return ""
    template = Template(names[choice.lower()].read_text(encoding="utf-8"))
    author = author.strip() or f"the authors of {folder}"
    return template.substitute(year=date.today().year, author=author)


# ---- All choices ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choices:
    """The user's choices besides the description.

    Attributes:
        runtimes: the names of the runtimes; empty: the description's.
        target: the default target; empty: the description's.
        license: the SPDX name of the new repository's license, or `none`.
        author: the author in the license; empty: the authors of the new repository.
        extras: the files around the operator, one of EXTRAS; a workspace has all.
        workspace: the workspace of the repositories, which is made first if it does not exist.
        kernels: the kernels besides the CPU kernel; empty: the description's.
    """

    runtimes: Sequence[str] = ()
    target: str = ""
    license: str = NO_LICENSE
    author: str = ""
    extras: str = DEFAULT_EXTRAS
    workspace: Path | None = None
    kernels: Sequence[str] = ()


DEFAULTS = Choices()


def refuse_target(name: str, names: Sequence[str], remedy: str = "pass --runtime {}") -> None:
    """Refuse a target that the runtimes do not have.

    Args:
        name: the value of `--target`.
        names: the names of the runtimes.
        remedy: the way to choose a runtime, with `{}` for its name.

    Raises:
        OpkitError: it is not a target of theirs.
    """
    known = {name: runtime.describe for name, runtime in runtimes.available().items()}
    chosen = [known[each] for each in names if each in known]
    expected = [target for each in chosen for target in each.targets]
    if chosen and name.lower() not in expected:
        refusal = describe.target_refusal(name, chosen, known.values(), expected, remedy)
        raise OpkitError(f"--target: {refusal}")


# ---- The questions: cookiecutter's, with the same texts ------------------------------------------

STARTER_NAME = "MyOperator"


def ask_name() -> str:
    """Ask for the name of a new operator, which is also its folder's.

    Raises:
        OpkitError: the input has ended.
    """
    return _ask("op_name", STARTER_NAME, check_name)


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
    """Ask for the choices of a new operator that are not given as options.

    Args:
        name: the name of the operator.
        given: the choices of the options; a license or extras of "" are to be asked for.
        licenses: the folder with the licenses' texts.

    Raises:
        OpkitError: the input has ended, or the target is unknown.
    """
    chosen = with_defaults(given)
    names = chosen.runtimes
    if not given.runtimes:

        def check(answer: str) -> None:
            _check_runtimes_of(name, given.target, _names(answer))

        names = _names(_ask("runtimes", ", ".join(names), check))
    license = given.license or _ask(
        "license", NO_LICENSE, lambda answer: license_text(licenses, answer, "", name)
    )
    author = given.author
    if not author and license.lower() != NO_LICENSE:
        author = _ask("author", "", lambda answer: license_text(licenses, license, answer, name))
    more = given.extras or _ask("extras", DEFAULT_EXTRAS, left_out)
    return replace(chosen, runtimes=names, license=license, author=author, extras=more)


def with_defaults(given: Choices) -> Choices:
    """Return the choices, with default answers for missing ones.

    Raises:
        OpkitError: the target is unknown.
    """
    from rknn_op.known_targets import runtime_of_target  # only here: most callers have no target

    default = runtime_of_target(given.target.lower()) if given.target else runtimes.DEFAULT
    return replace(
        given,
        runtimes=given.runtimes or [default],
        license=given.license or NO_LICENSE,
        extras=given.extras or DEFAULT_EXTRAS,
    )


def check_runtimes(names: Sequence[str]) -> None:
    """Refuse unknown runtimes.

    Raises:
        OpkitError: a name is unknown, or the list is empty.
    """
    expected = ", ".join(runtimes.available())
    for name in names:
        if name not in runtimes.available():
            hint = did_you_mean(name, runtimes.available())
            problem = f"unknown {shortened(name)!r} (expected {expected})"
            raise OpkitError("; ".join(filter(None, [problem, hint])))
    if not names:
        raise OpkitError(f"no runtime (expected {expected})")


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


def _ask(question: str, default: str, check: Callable[[str], object]) -> str:
    """Ask until the check of the answer raises no OpkitError."""

    def value(answer: str) -> str:
        try:
            check(answer)
        except OpkitError as error:
            raise click.UsageError(str(error)) from None
        return answer

    content = json.loads((template.ROOT / "cookiecutter.json").read_text(encoding="utf-8"))
    text: str = content["__prompts__"][question]
    try:
        answer: str = click.prompt(
            text, default, value_proc=value, show_default=bool(default), err=True
        )
    except click.Abort:
        raise OpkitError(f"no answer to {text!r}; pass --yes for the default answers") from None
    return answer
