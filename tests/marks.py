"""Choose the parameters of a test that run in the quick part, and in every run of the slow one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

SAMPLE = frozenset(
    {
        *("BitwiseAnd", "ConvInteger", "CumSum", "DFT", "Exp", "GridSample", "LayerNormalization"),
        *("LinearAttention", "MaxUnpool", "Mish", "NonMaxSuppression", "Not", "QuantizeLinear"),
        *("ReduceL1", "ResizeArea", "RotaryEmbedding", "RowMean", "Sum", "TruncateDiv", "WKV6"),
    }
)
"""Operators of the library that every run of the slow part has: one of each kind."""


def quick_first(count: int, parameters: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test, all but the first ones marked as slow.

    Args:
        count: the count of the first ones, which show the main behavior.
        parameters: for pytest.mark.parametrize; values, tuples, or the results of pytest.param.
    """
    return _marked(parameters, pytest.mark.slow, lambda index, _: index < count)


def slow_first(count: int, parameters: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test, all but the first ones marked as slow and nightly.

    Args:
        count: the count of the first ones, which show the main behavior.
        parameters: as those of quick_first.
    """
    return _marked(
        quick_first(count, parameters), pytest.mark.nightly, lambda index, _: index < count
    )


def sampled(parameters: Iterable[Any], operator: Callable[[Any], str] = str) -> list[Any]:
    """Return the parameters of a slow test, marked as nightly outside of SAMPLE.

    Args:
        parameters: as those of quick_first.
        operator: returns the operator of a parameter, or its folder.
    """
    names = {name.lower() for name in SAMPLE}
    return _marked(
        parameters,
        pytest.mark.nightly,
        lambda _, each: operator(each).replace("_", "").lower() in names,
    )


def _marked(
    parameters: Iterable[Any], mark: pytest.MarkDecorator, stays: Callable[[int, Any], bool]
) -> list[Any]:
    """Return the parameters; those that do not stay as they are, by index and value, marked."""
    found = []
    for index, each in enumerate(parameters):
        if stays(index, each):
            found.append(each)
        elif hasattr(each, "marks"):
            found.append(pytest.param(*each.values, id=each.id, marks=(*each.marks, mark)))
        else:
            values = each if isinstance(each, tuple) else (each,)
            found.append(pytest.param(*values, marks=mark))
    return found
