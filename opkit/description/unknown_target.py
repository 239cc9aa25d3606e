"""The refusal of a target that an operator's runtimes do not have."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from opkit.description.describe import Describe
from opkit.text import closest, shortened


class Refusal(NamedTuple):
    """The parts of a message about a target.

    Attributes:
        problem: the problem.
        hint: the remedy, or empty.
        expected: the valid targets, or empty if the problem or the hint names them.
    """

    problem: str
    hint: str = ""
    expected: str = ""

    def __str__(self) -> str:
        hint = f"; {self.hint}" if self.hint else ""
        return self.problem + hint + (f" (expected {self.expected})" if self.expected else "")


def refusal(
    name: str,
    chosen: Collection[Describe],
    known: Iterable[Describe],
    expected: Iterable[str],
    remedy: str,
) -> Refusal:
    """Return the refusal of a target that is not among the expected ones.

    Args:
        name: the target, as the user wrote it.
        chosen: the runtimes of the operator.
        known: all available runtimes.
        expected: the valid targets.
        remedy: the way to choose a runtime, with `{}` for its name.
    """
    target, known = name.lower(), [*known]
    for runtime in (*chosen, *known):
        if reason := runtime.refused_targets.get(target):
            return Refusal(reason)
    for runtime in known:
        if target in runtime.targets:
            problem = f"{name} is a {_kind(runtime, target)} of {runtime.title}"
            return Refusal(problem, remedy.format(runtime.name))
    hint = _suggestion(target, chosen, known, remedy)
    return Refusal(f"unknown value {shortened(name)!r}", hint, ", ".join(expected))


def _kind(runtime: Describe, target: str) -> str:
    """Return the word for a target: those of a family are chips."""
    return "chip" if runtime.targets[target].family else "target"


def _suggestion(
    target: str, chosen: Collection[Describe], known: Iterable[Describe], remedy: str
) -> str:
    """Return a hint at the most similar target of any runtime; empty: none is similar."""
    owners = {name: runtime for runtime in known for name in runtime.targets}
    for name in closest(target, owners):
        owner = owners[name]
        if any(name in each.targets for each in chosen):
            return f"did you mean '{name}'?"
        kind = _kind(owner, name)
        return f"did you mean '{name}', a {kind} of {owner.title}? Then {remedy.format(owner.name)}"
    return ""
