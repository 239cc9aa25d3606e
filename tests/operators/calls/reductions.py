"""Reductions and normalizations."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.operators.calls.common import (
    InvalidCall,
    Random,
    Table,
    zeros,
)
from tests.operators.oracle import Call


@st.composite
def det_calls(draw: Any) -> Call:
    side = draw(st.integers(1, 5))
    outer = draw(st.sampled_from([(), (1,), (3,), (2, 2)]))
    quarters = st.integers(-8, 8).map(lambda each: each / 4)
    return Call({"X": draw(hnp.arrays(np.float32, (*outer, side, side), elements=quarters))}, {})


RANDOM = {
    # onnxruntime computes in float32: products of up to 5 elements of 2, of which many cancel.
    "Det": Random(det_calls(), [11, 22], rtol=1e-5, atol=1e-4, count=80),
}


INVALID = [
    InvalidCall("Det", {"x": zeros(2, 3)}, {}, {"y": (1,)}, "x must be square matrices"),
    InvalidCall("Det", {"x": zeros(4)}, {}, {"y": (1,)}, "x must be square matrices"),
]

TABLE = Table(RANDOM, {"Det": 2}, invalid=INVALID)
