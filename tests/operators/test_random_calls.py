"""Random calls of the library's operators of ONNX: reference and CPU kernels against onnxruntime.

Each operator's tolerance stands beside its calls, with the reason.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from opkit.check.cases import Case
from opkit.runtimes.invocation import Array
from tests.operators.oracle import (
    Built,
    Call,
    assert_all_close,
    run_by_onnx,
    run_by_onnxruntime,
)
from tests.operators.test_node_tests import OPERATORS

pytestmark = pytest.mark.slow

Library = Callable[[str], Built]


@dataclass(frozen=True)
class Random:
    """Random calls of an operator.

    Attributes:
        calls: the strategy.
        opsets: the opsets of the models.
        rtol: the relative tolerance.
        atol: the absolute one.
        count: the number of calls.
    """

    calls: st.SearchStrategy[Call]
    opsets: Sequence[int]
    rtol: float = 0.0
    atol: float = 0.0
    count: int = 60


def floats(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, width=32, allow_subnormal=False)


def shapes(min_rank: int = 1, max_rank: int = 4, max_side: int = 7) -> st.SearchStrategy[Any]:
    return hnp.array_shapes(min_dims=min_rank, max_dims=max_rank, max_side=max_side)


def integers_as(dtype: Any, limit: int) -> st.SearchStrategy[Any]:
    """Return whole numbers in a dtype: also sums of floats are exact."""
    return st.integers(-limit, limit - 1).map(dtype)


def axes(rank: int) -> st.SearchStrategy[int]:
    return st.integers(-rank, rank - 1)


def in_opset(call: Call, op_type: str, opset: int) -> Call:
    """Return a call with the words of an opset."""
    if op_type != "GridSample" or opset >= 20:
        return call
    words = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}
    mode = call.attributes["mode"]
    return Call(call.inputs, {**call.attributes, "mode": words[mode]})


# ---- The operators -------------------------------------------------------------------------------


@st.composite
def grid_sample_calls(draw: Any) -> Call:
    """Return ties, edges, and locations far outside."""
    count, channels, height, width, rows, columns = (
        draw(st.integers(1, limit)) for limit in (2, 6, 6, 6, 4, 5)
    )
    align_corners = draw(st.integers(0, 1))
    padding = draw(st.sampled_from(["zeros", "border", "reflection"]))
    if align_corners and padding == "reflection":  # onnxruntime divides by 0 for a single pixel
        height, width = max(height, 2), max(width, 2)
    positions = st.one_of(
        st.integers(-24, 24).map(lambda eighths: eighths / 8),
        floats(-1.5, 1.5),
        floats(-100, 100),
    )
    x = draw(hnp.arrays(np.float32, (count, channels, height, width), elements=floats(-1, 1)))
    grid = draw(hnp.arrays(np.float32, (count, rows, columns, 2), elements=positions))
    mode = draw(st.sampled_from(["linear", "cubic", "nearest"]))
    return Call(
        {"X": x, "grid": grid},
        {"mode": mode, "padding_mode": padding, "align_corners": align_corners},
    )


@st.composite
def selu_calls(draw: Any) -> Call:
    eighths = st.none() | st.integers(-32, 32).map(lambda each: each / 8)
    attributes = {"alpha": draw(eighths), "gamma": draw(eighths)}
    x = draw(hnp.arrays(np.float32, shapes(max_side=9), elements=floats(-30, 30)))
    return Call({"X": x}, {key: each for key, each in attributes.items() if each is not None})


@st.composite
def cum_sum_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from([np.float32, np.int32, np.int64]))
    x = draw(hnp.arrays(dtype, shapes(max_side=9), elements=integers_as(dtype, 1000)))
    flags = {name: draw(st.integers(0, 1)) for name in ("exclusive", "reverse")}
    return Call({"x": x, "axis": np.array(draw(axes(x.ndim)))}, flags)


CALLS = {
    # onnxruntime subtracts alpha from alpha * e^x: near 0, it loses digits.
    "Selu": Random(selu_calls(), [17, 22], 1e-6, 3e-6),
    "CumSum": Random(cum_sum_calls(), [11, 14], count=80),
    "GridSample": Random(grid_sample_calls(), [16, 20], atol=3e-6, count=150),
}


def test_every_operator_has_random_calls() -> None:
    assert {*CALLS} == {*OPERATORS}


@pytest.mark.parametrize("op_type", CALLS)
def test_like_onnxruntime(op_type: str, library_operator: Library) -> None:
    operator, random = library_operator(op_type), CALLS[op_type]

    @settings(
        max_examples=random.count, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    @given(call=random.calls, opset=st.sampled_from(random.opsets))
    def run(call: Call, opset: int) -> None:
        call = in_opset(call, op_type, opset)
        expected = run_by_onnxruntime(op_type, call, opset)
        found = operator.results(call.case("random", operator.operator.spec))
        assert_all_close(found, expected, random.rtol, random.atol)

    run()


# ---- Further calls -------------------------------------------------------------------------------

RAMP = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4) / 12
TIES = np.array([*itertools.product((-2.5, -1, -0.5, 0, 0.5, 1, 2.5), repeat=2)], np.float32)


def test_grid_sample_rounds_ties_like_onnxruntime(library_operator: Library) -> None:
    operator = library_operator("GridSample")
    call = Call({"X": RAMP, "grid": TIES.reshape(1, 7, 7, 2)}, {"mode": "nearest"})
    expected = run_by_onnxruntime("GridSample", call, 20)
    assert_all_close(operator.results(call.case("ties", operator.operator.spec)), expected)


@given(call=grid_sample_calls())
@settings(max_examples=40, deadline=None)
def test_grid_sample_like_onnx(library_operator: Library, call: Call) -> None:
    if (call.attributes["mode"], call.attributes["padding_mode"]) == ("cubic", "border"):
        return  # onnx moves locations to the border, onnxruntime and PyTorch pixels
    operator = library_operator("GridSample")
    found = operator.results(call.case("random", operator.operator.spec))
    assert_all_close(found, run_by_onnx("GridSample", call, 20), atol=3e-6)


@pytest.mark.parametrize(
    "x", [np.array([2**31 - 1, 1], np.int32), np.array([-(2**31), -1, 5], np.int32)], ids=str
)
@pytest.mark.parametrize("exclusive", [0, 1])
def test_cum_sum_overflows_like_onnxruntime(
    library_operator: Library, x: Array, exclusive: int
) -> None:
    """Of PPLNN alone: librknnrt 1.6.0 has no integers."""
    operator = library_operator("CumSum")
    call = Call({"x": x, "axis": np.array(0)}, {"exclusive": exclusive})
    prepared = operator.operator.prepare(call.case("overflow", operator.operator.spec))
    result = operator.kernels["pplnn"].run(prepared.invocation)
    found = {"pplnn": result.outputs, "reference": prepared.expected}
    assert_all_close(found, run_by_onnxruntime("CumSum", call, 14))


# ---- Invalid calls -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Invalid:
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
    params: dict[str, Any]
    outputs: dict[str, Any]
    problem: str


def zeros(*shape: int, dtype: Any = np.float32) -> Array:
    return np.zeros(shape, dtype)


GRID = {"x": zeros(1, 2, 3, 4), "grid": zeros(1, 5, 6, 2)}
SAMPLED = {"y": (1, 2, 5, 6)}
INVALID = [
    Invalid("GridSample", GRID, {"mode": "lanczos"}, SAMPLED, "mode must be linear, cubic or n"),
    Invalid("GridSample", GRID, {"padding_mode": "wrap"}, SAMPLED, "must be zeros, border or refl"),
    Invalid("GridSample", GRID, {"align_corners": 2}, SAMPLED, "align_corners must be 0 or 1"),
]


@pytest.mark.parametrize("call", INVALID, ids=lambda call: f"{call.op_type}: {call.problem}")
def test_invalid_call_is_refused(call: Invalid, library_operator: Library) -> None:
    outputs = {
        name: (each, np.dtype(np.float32)) if isinstance(each[0], int) else each
        for name, each in call.outputs.items()
    }
    case = Case("invalid", call.inputs, call.params)
    library_operator(call.op_type).assert_refused(case, outputs, call.problem)
