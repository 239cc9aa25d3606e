"""The values of options, for the completion of shells."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

Completion = Callable[[click.Context, click.Parameter, str], list[str]]


def starting(names: Callable[[], Iterable[str]]) -> Completion:
    """Return click's callback for some names, which it computes only for a completion."""

    def completed(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [each for each in names() if each.lower().startswith(incomplete.lower())]

    return completed


def _runtimes() -> Iterable[str]:
    from opkit import runtimes

    return runtimes.available()


def _targets() -> Iterable[str]:
    from rknn_op import known_targets

    return known_targets.names()


def _licenses() -> Iterable[str]:
    from rknn_op import template
    from rknn_op.creation.choices import NO_LICENSE

    return [NO_LICENSE, *sorted(path.name for path in template.LICENSES.iterdir())]


def _extras() -> Iterable[str]:
    from rknn_op.creation.choices import EXTRAS

    return EXTRAS


def _library() -> Iterable[str]:
    from rknn_op.creation import operator_library

    return [each["operator"] for each in operator_library.entries(operator_library.find())]


RUNTIMES = starting(_runtimes)
TARGETS = starting(_targets)
LICENSES = starting(_licenses)
EXTRAS = starting(_extras)
LIBRARY = starting(_library)
