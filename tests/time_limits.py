"""Time limits in tests, which a busy machine may exceed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from opkit.check import checking

LONG = 300.0
"""Seconds that suffice for every kernel except an endless one."""
_GROWING = (0.2, 1.6, 12.8, 102.4)

_Outcome = TypeVar("_Outcome")


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Set the time limit of kernels, also after the timeout of another one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "TIME_LIMIT", seconds)
        patch.setattr(checking, "SHORT_LIMIT", seconds)
        yield


def with_growing_limit(
    attempt: Callable[[float], _Outcome], has_begun: Callable[[_Outcome], bool]
) -> tuple[float, _Outcome]:
    """Run something endless with growing limits, until a busy machine reaches the endless part.

    Args:
        attempt: runs it with a limit in seconds.
        has_begun: whether the outcome is that of the endless part, not of one before it.

    Returns:
        The limit and the outcome of the first fitting attempt, or of the last one.
    """
    for limit in _GROWING:
        outcome = attempt(limit)
        if has_begun(outcome):
            break
    return limit, outcome
