"""Choose the parameters of a test that run in the quick part, and in every run of the slow one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def quick_first(count: int, parameters: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test, all but the first ones marked as slow.

    Args:
        count: the count of the first ones, which show the main behavior.
        parameters: for pytest.mark.parametrize; values, tuples, or the results of pytest.param.
    """
    return _marked(count, parameters, pytest.mark.slow)


def slow_first(count: int, parameters: Iterable[Any]) -> list[Any]:
    """Return the parameters of a slow test, all but the first ones marked as nightly.

    Args:
        count: the count of the first ones, which show the main behavior.
        parameters: as those of quick_first.
    """
    return _marked(count, parameters, pytest.mark.nightly)


def _marked(count: int, parameters: Iterable[Any], mark: pytest.MarkDecorator) -> list[Any]:
    marked = []
    for index, each in enumerate(parameters):
        if index < count:
            marked.append(each)
        elif hasattr(each, "marks"):
            marked.append(pytest.param(*each.values, id=each.id, marks=(*each.marks, mark)))
        else:
            values = each if isinstance(each, tuple) else (each,)
            marked.append(pytest.param(*values, marks=mark))
    return marked
