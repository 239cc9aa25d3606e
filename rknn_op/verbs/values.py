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
    from rknn_op import targets

    return targets.names()


def _licenses() -> Iterable[str]:
    from rknn_op import template
    from rknn_op.creation.license import NONE

    return [NONE, *sorted(path.name for path in template.LICENSES.iterdir())]


def _extras() -> Iterable[str]:
    from rknn_op.creation.extras import CHOICES

    return CHOICES


def _library() -> Iterable[str]:
    from rknn_op.creation import from_library

    return [each["operator"] for each in from_library.entries(from_library.find())]


RUNTIMES = starting(_runtimes)
TARGETS = starting(_targets)
LICENSES = starting(_licenses)
EXTRAS = starting(_extras)
LIBRARY = starting(_library)
