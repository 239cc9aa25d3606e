"""Activations and math, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.operators.calls.common import (
    Random,
    Table,
    floats,
    shapes,
)
from tests.operators.oracle import Call


@st.composite
def selu_calls(draw: Any) -> Call:
    eighths = st.none() | st.integers(-32, 32).map(lambda each: each / 8)
    attributes = {"alpha": draw(eighths), "gamma": draw(eighths)}
    x = draw(hnp.arrays(np.float32, shapes(max_side=9), elements=floats(-30, 30)))
    return Call({"X": x}, {key: each for key, each in attributes.items() if each is not None})


RANDOM = {
    # onnxruntime subtracts alpha from alpha * e^x: near 0, it loses digits.
    "Selu": Random(selu_calls(), [17, 22], 1e-6, 3e-6),
}


TABLE = Table(RANDOM, {"Selu": 3})
