"""Time limits in tests, which a machine that is busy with something else may exceed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from opkit.check import checking

LONG = 300.0
"""Seconds that nothing takes which has an end."""
_GROWING = (0.2, 1.6, 12.8, 102.4)

_Outcome = TypeVar("_Outcome")


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let a kernel take so long, also after another one has timed out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "TIME_LIMIT", seconds)
        patch.setattr(checking, "SHORT_LIMIT", seconds)
        yield


def with_growing_limit(
    attempt: Callable[[float], _Outcome], has_begun: Callable[[_Outcome], bool]
) -> tuple[float, _Outcome]:
    """Let something endless run until a limit within which a busy machine gets to it.

    Args:
        attempt: runs it with a limit in seconds.
        has_begun: whether the outcome is that of what has no end, not of what comes before it.

    Returns:
        The limit, and the outcome: those of the last attempt, if none fits.
    """
    for limit in _GROWING:
        outcome = attempt(limit)
        if has_begun(outcome):
            break
    return limit, outcome
