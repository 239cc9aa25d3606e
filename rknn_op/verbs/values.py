"""The values of options, for the completion of shells."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

Completion = Callable[[click.Context, click.Parameter, str], list[str]]


def _starting(names: Callable[[], Iterable[str]]) -> Completion:
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


def _toolkit2_targets() -> Iterable[str]:
    from opkit.runtimes.rknn2.chips import TARGETS

    return TARGETS


def _licenses() -> Iterable[str]:
    from opkit.creation.license import NONE
    from rknn_op import template

    return [NONE, *sorted(path.name for path in template.LICENSES.iterdir())]


def _extras() -> Iterable[str]:
    from opkit.creation.extras import CHOICES

    return CHOICES


def _library() -> Iterable[str]:
    from rknn_op import library

    return [each["operator"] for each in library.entries(library.find())]


RUNTIMES = _starting(_runtimes)
TARGETS = _starting(_targets)
TOOLKIT2_TARGETS = _starting(_toolkit2_targets)
LICENSES = _starting(_licenses)
EXTRAS = _starting(_extras)
LIBRARY = _starting(_library)
