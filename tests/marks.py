"""Choose the parameters of a test that its module's quick part runs."""

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
    return [each if index < count else _slow(each) for index, each in enumerate(parameters)]


def _slow(parameter: Any) -> Any:
    if hasattr(parameter, "marks"):
        marks = (*parameter.marks, pytest.mark.slow)
        return pytest.param(*parameter.values, id=parameter.id, marks=marks)
    values = parameter if isinstance(parameter, tuple) else (parameter,)
    return pytest.param(*values, marks=pytest.mark.slow)
