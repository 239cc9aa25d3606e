"""Reductions and normalizations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.operators.calls.common import (
    InvalidCall,
    NotApplicable,
    NoTensors,
    Random,
    Table,
    floats,
    shapes,
    zeros,
)
from tests.operators.oracle import Call


@st.composite
def det_calls(draw: Any) -> Call:
    side = draw(st.integers(1, 5))
    outer = draw(st.sampled_from([(), (1,), (3,), (2, 2)]))
    quarters = st.integers(-8, 8).map(lambda each: each / 4)
    return Call({"X": draw(hnp.arrays(np.float32, (*outer, side, side), elements=quarters))}, {})


@st.composite
def reduce_calls(draw: Any, elements: st.SearchStrategy[float], max_side: int = 7) -> Call:
    """Return reductions along some axes, or by noop_with_empty_axes along all or none."""
    x = draw(hnp.arrays(np.float32, shapes(max_side=max_side), elements=elements))
    chosen = draw(st.permutations(range(x.ndim)))[: draw(st.integers(0, x.ndim))]
    inputs = {"data": x}
    if chosen:
        axes_ = [axis - draw(st.sampled_from([0, x.ndim])) for axis in chosen]
        inputs["axes"] = np.array(axes_)
    flags = {name: draw(st.integers(0, 1)) for name in ("keepdims", "noop_with_empty_axes")}
    return Call(inputs, flags)


REDUCTIONS = ("ReduceL1", "ReduceLogSum", "ReduceLogSumExp", "ReduceProd", "ReduceSumSquare")
REDUCTION_OPSETS = [11, 13, 18]
SPECIAL = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, 1.0])
POWERS_OF_TWO = st.sampled_from([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])

RANDOM = {
    # onnxruntime adds up to 2,401 floats one after the other.
    "ReduceL1": Random(reduce_calls(floats(-8, 8) | SPECIAL), REDUCTION_OPSETS, rtol=1e-5),
    "ReduceSumSquare": Random(reduce_calls(floats(-8, 8) | SPECIAL), REDUCTION_OPSETS, rtol=1e-5),
    # The same before the logarithm, which makes a relative error an absolute one.
    "ReduceLogSum": Random(
        reduce_calls(floats(0, 8) | st.just(math.nan) | st.just(math.inf)),
        REDUCTION_OPSETS,
        rtol=1e-6,
        atol=1e-5,
    ),
    "ReduceLogSumExp": Random(
        reduce_calls(floats(-100, 100)), REDUCTION_OPSETS, rtol=1e-6, atol=1e-5
    ),
    # Products of up to 27 powers of 2: exact.
    "ReduceProd": Random(reduce_calls(POWERS_OF_TWO | SPECIAL, max_side=2), REDUCTION_OPSETS),
    # onnxruntime computes in float32: products of up to 5 elements of 2, of which many cancel.
    "Det": Random(det_calls(), [11, 22], rtol=1e-5, atol=1e-4, count=80),
}


def invalid_reductions() -> Iterator[InvalidCall]:
    """Yield the invalid calls of every reduction."""
    for op_type in REDUCTIONS:
        data, reduced = {"data": zeros(2, 3)}, {"reduced": (1, 1)}
        for params, problem in [
            ({"axes": [2]}, "axes must be different dimensions"),
            ({"axes": [0, -2]}, "axes must be different dimensions"),
            ({"keepdims": 2}, "keepdims must be 0 or 1"),
            ({"noop_with_empty_axes": -1}, "noop_with_empty_axes must be 0 or 1"),
        ]:
            yield InvalidCall(op_type, data, params, reduced, problem)


INVALID = [
    *invalid_reductions(),
    InvalidCall("Det", {"x": zeros(2, 3)}, {}, {"y": (1,)}, "x must be square matrices"),
    InvalidCall("Det", {"x": zeros(4)}, {}, {"y": (1,)}, "x must be square matrices"),
]

NODE_TESTS = {
    "Det": 2,
    "ReduceL1": 9,
    "ReduceLogSum": 5,
    "ReduceLogSumExp": 9,
    "ReduceProd": 9,
    "ReduceSumSquare": 9,
}

NOT_APPLICABLE: dict[str, NotApplicable] = {
    r"test_reduce_(l1|log_sum|log_sum_exp|prod|sum_square)_empty_set": NoTensors(
        "1 to 6 dimensions, none 0"
    ),
}

TABLE = Table(RANDOM, NODE_TESTS, NOT_APPLICABLE, INVALID)
