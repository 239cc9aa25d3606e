"""The entries of the tables of calls, and strategies that several of them use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from opkit.runtimes.invocation import Array
from tests.operators.oracle import Call, run_by_onnxruntime


@dataclass(frozen=True)
class Random:
    """Random calls of an operator.

    Attributes:
        calls: the strategy.
        opsets: the opsets of the models.
        rtol: the relative tolerance.
        atol: the absolute one.
        count: the number of calls.
        program: returns the right outputs; onnx's evaluator, if onnxruntime lacks the operator.
    """

    calls: st.SearchStrategy[Call]
    opsets: Sequence[int]
    rtol: float = 0.0
    atol: float = 0.0
    count: int = 60
    program: Callable[[str, Call, int], list[Array]] = run_by_onnxruntime


@dataclass(frozen=True)
class InvalidCall:
    """A call that reference and kernels refuse.

    Attributes:
        op_type: the operator.
        inputs: input -> array.
        params: param -> value.
        outputs: output -> shape, or shape and dtype if that is not float32.
        problem: a part of the messages.
    """

    op_type: str
    inputs: dict[str, Array]
    params: Any
    outputs: dict[str, Any]
    problem: str


@dataclass(frozen=True)
class Refused:
    """An error of reference and kernels.

    Attributes:
        problem: a part of both messages.
    """

    problem: str


@dataclass(frozen=True)
class NoTensors:
    """An error of the check: no tensors of the description, or of any runtime, can hold it.

    Attributes:
        problem: a pattern of the message.
    """

    problem: str


NotApplicable = Refused | NoTensors


@dataclass(frozen=True)
class Table:
    """The calls of some operators of the library.

    Attributes:
        random: operator -> its random calls.
        node_tests: operator -> the minimum of its tests in onnx; later versions have more of some.
        not_applicable: pattern of onnx's tests -> the error instead of a result.
        invalid: calls that reference and kernels refuse.
        node_atol: operator -> absolute tolerance of onnx's tests whose outputs are inexact.
    """

    random: Mapping[str, Random]
    node_tests: Mapping[str, int]
    not_applicable: Mapping[str, NotApplicable] = field(default_factory=dict)
    invalid: Sequence[InvalidCall] = ()
    node_atol: Mapping[str, float] = field(default_factory=dict)


def floats(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, width=32, allow_subnormal=False)


def shapes(min_rank: int = 1, max_rank: int = 4, max_side: int = 7) -> st.SearchStrategy[Any]:
    return hnp.array_shapes(min_dims=min_rank, max_dims=max_rank, max_side=max_side)


def integers_as(dtype: Any, limit: int) -> st.SearchStrategy[Any]:
    """Return whole numbers in a dtype: also sums of floats are exact."""
    return st.integers(-limit, limit - 1).map(dtype)


def axes(rank: int) -> st.SearchStrategy[int]:
    return st.integers(-rank, rank - 1)


EXACT = st.integers(-(2**24), 2**24)
"""Integers that librknnrt 1.6.0 passes unchanged: as float32."""


def zeros(*shape: int, dtype: Any = np.float32) -> Array:
    return np.zeros(shape, dtype)
