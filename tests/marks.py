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
    return [
        each if index < count else _marked(each, pytest.mark.slow)
        for index, each in enumerate(parameters)
    ]


def slow_first(count: int, parameters: Iterable[Any]) -> list[Any]:
    """Return the parameters of a slow test, all but the first ones marked as nightly.

    Args:
        count: the count of the first ones, which show the main behavior.
        parameters: as those of quick_first.
    """
    return [
        each if index < count else _marked(each, pytest.mark.nightly)
        for index, each in enumerate(parameters)
    ]


def sampled(parameters: Iterable[Any], operator: Callable[[Any], str] = str) -> list[Any]:
    """Return the parameters of a slow test, marked as nightly outside of SAMPLE.

    Args:
        parameters: as those of quick_first.
        operator: returns the operator of a parameter, or its folder.
    """
    names = {name.lower() for name in SAMPLE}
    return [
        each
        if operator(each).replace("_", "").lower() in names
        else _marked(each, pytest.mark.nightly)
        for each in parameters
    ]


def _marked(parameter: Any, mark: pytest.MarkDecorator) -> Any:
    if hasattr(parameter, "marks"):
        marks = (*parameter.marks, mark)
        return pytest.param(*parameter.values, id=parameter.id, marks=marks)
    return pytest.param(*(parameter if isinstance(parameter, tuple) else (parameter,)), marks=mark)
