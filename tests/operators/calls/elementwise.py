"""Activations and math, element by element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from opkit.runtimes.invocation import Array
from tests.operators.calls.common import (
    InvalidCall,
    NotApplicable,
    NoTensors,
    Random,
    Refused,
    Table,
    floats,
    shapes,
    zeros,
)
from tests.operators.oracle import Call, run_by_onnx

SPECIAL = st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0])
ANY = st.floats(width=32)
"""All floats: with NaN, infinities, zeros of both signs and subnormal numbers."""
EIGHTHS = st.integers(-32, 32).map(lambda each: each / 8)
NONZERO = EIGHTHS.filter(bool)


@st.composite
def unary_calls(
    draw: Any,
    elements: st.SearchStrategy[float],
    attributes: Mapping[str, st.SearchStrategy[Any]] = {},
    name: str = "X",
) -> Call:
    """Return calls with one tensor.

    Args:
        draw: the function of hypothesis.
        elements: its elements.
        attributes: attribute -> its values; some calls leave it out.
        name: the name of the tensor.
    """
    x = draw(hnp.arrays(np.float32, shapes(max_side=9), elements=elements))
    values = {key: draw(st.none() | each) for key, each in attributes.items()}
    return Call({name: x}, {key: each for key, each in values.items() if each is not None})


def random(
    elements: st.SearchStrategy[float],
    opset: int,
    rtol: float = 0.0,
    atol: float = 0.0,
    name: str = "X",
    **attributes: st.SearchStrategy[Any],
) -> Random:
    """Return random calls with one tensor, from the first opset on that onnxruntime supports."""
    opsets = [max(opset, 7), max(opset, 22)]
    return Random(unary_calls(elements, attributes, name), opsets, rtol, atol, count=30)


@st.composite
def broadcast_arrays(draw: Any, dtype: Any, elements: Any, count: int = 2) -> list[Array]:
    """Return arrays that broadcast."""
    drawn = draw(hnp.mutually_broadcastable_shapes(num_shapes=count, min_dims=1, max_dims=4))
    return [draw(hnp.arrays(dtype, shape, elements=elements)) for shape in drawn.input_shapes]


@st.composite
def swiglu_calls(draw: Any) -> Call:
    """Return two tensors of one shape: ONNX broadcasts neither."""
    shape = draw(shapes())
    arrays = [draw(hnp.arrays(np.float32, shape, elements=floats(-9, 9))) for _ in "ab"]
    return Call(dict(zip("AB", arrays, strict=True)), {"alpha": draw(NONZERO)})


@st.composite
def logical_calls(draw: Any) -> Call:
    a, b = draw(broadcast_arrays(np.bool_, st.booleans()))
    return Call({"A": a, "B": b}, {})


@st.composite
def not_calls(draw: Any) -> Call:
    return Call({"X": draw(hnp.arrays(np.bool_, shapes()))}, {})


@st.composite
def repeated_calls(draw: Any) -> Call:
    """Return calls with two or three tensors, of numbers with exact sums."""
    count = draw(st.integers(2, 3))
    arrays = draw(broadcast_arrays(np.float32, EIGHTHS | SPECIAL, count))
    return Call({f"data_{index}": array for index, array in enumerate(arrays)}, {})


@st.composite
def mod_calls(draw: Any) -> Call:
    """Return floats with fmod alone: onnxruntime refuses others. No integer divisor is 0."""
    dtype = draw(st.sampled_from([np.float32, np.int32, np.int64]))
    if dtype == np.float32:
        a, b = draw(broadcast_arrays(dtype, ANY | floats(-20, 20)))
        return Call({"A": a, "B": b}, {"fmod": 1})
    a, b = draw(broadcast_arrays(dtype, st.integers(-(2**24), 2**24) | st.integers(-20, 20)))
    return Call({"A": a, "B": np.where(b == 0, dtype(7), b)}, {"fmod": draw(st.integers(0, 1))})


FLAG = st.integers(0, 1)

RANDOM = {
    "Acos": random(floats(-1.5, 1.5) | SPECIAL, 7, 1e-6, name="input"),
    "Acosh": random(floats(0, 30) | ANY, 9, 1e-6, name="input"),
    "Asin": random(floats(-1.5, 1.5) | SPECIAL, 7, 1e-6, name="input"),
    "Asinh": random(floats(-30, 30) | ANY, 9, 1e-6, name="input"),
    "Atan": random(floats(-30, 30) | ANY, 7, 1e-6, name="input"),
    "Atanh": random(floats(-1.5, 1.5) | SPECIAL, 9, 1e-6, name="input"),
    "Ceil": random(floats(-30, 30) | ANY, 6),
    # onnxruntime subtracts alpha from alpha * e^(x / alpha): near 0, it loses digits. Of a negative
    # alpha near 0, it also rounds a large exponent.
    "Celu": random(
        floats(-30, 30) | SPECIAL,
        *(12, 1e-6, 3e-6),
        alpha=NONZERO.filter(lambda alpha: alpha > 0 or alpha < -3.5),
    ),
    "Cosh": random(floats(-30, 30) | SPECIAL, 9, 1e-6, name="input"),
    "Exp": random(floats(-110, 90) | SPECIAL, 6, 1e-6, 1e-44, name="input"),
    # For x < 0, 1 + erf is small: onnxruntime's loses digits, too.
    "Gelu": Random(
        unary_calls(floats(-30, 30) | SPECIAL, {"approximate": st.sampled_from(["none", "tanh"])}),
        [20],
        1e-6,
        1e-6,
    ),
    "IsInf": random(ANY, 10, detect_negative=FLAG, detect_positive=FLAG),
    "IsNaN": random(ANY, 9),
    "Mean": Random(repeated_calls(), [8, 13], 1e-6, count=30),
    "Mish": random(floats(-30, 30) | SPECIAL, 18, 1e-6, 1e-6),
    "Mod": Random(mod_calls(), [10, 13], count=150),
    "Neg": random(ANY, 6),
    "Not": Random(not_calls(), [7], count=20),
    "Or": Random(logical_calls(), [7], count=30),
    "Reciprocal": random(ANY, 6),
    "Round": random(EIGHTHS | ANY, 11),
    # onnxruntime subtracts alpha from alpha * e^x: near 0, it loses digits.
    "Selu": Random(
        unary_calls(floats(-30, 30), {"alpha": EIGHTHS, "gamma": EIGHTHS}), [17, 22], 1e-6, 3e-6
    ),
    "Shrink": random(EIGHTHS | ANY, 9, 1e-6, name="input", lambd=EIGHTHS, bias=EIGHTHS),
    "Sign": random(ANY, 9, name="input"),
    "Sinh": random(floats(-30, 30) | SPECIAL, 9, 1e-6, name="input"),
    "Softsign": random(floats(-1e6, 1e6) | SPECIAL, 1, 1e-6, name="input"),
    "Sum": Random(repeated_calls(), [8, 13], count=30),
    # The programs round alpha * x, of up to 36; sigmoid of onnxruntime has an absolute error.
    "SwiGLU": Random(swiglu_calls(), [28], 5e-6, 1e-30, program=run_by_onnx),
    "Swish": random(floats(-9, 9), 24, 5e-6, 2e-6, alpha=NONZERO),
    "Tan": random(floats(-1e3, 1e3) | SPECIAL, 7, 1e-6, name="input"),
    "ThresholdedRelu": random(EIGHTHS | ANY, 10, alpha=EIGHTHS),
    "Xor": Random(logical_calls(), [7], count=30),
}

NODE_TESTS = {
    **dict.fromkeys(("Mish", "Round", "Sign", "Swish"), 1),
    **dict.fromkeys(("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cosh"), 2),
    **dict.fromkeys(("Exp", "IsNaN", "Neg", "Reciprocal", "Shrink", "Sinh", "Softsign", "Tan"), 2),
    **dict.fromkeys(("Celu", "Mean", "Not", "Selu", "Sum", "SwiGLU", "ThresholdedRelu"), 3),
    **dict.fromkeys(("Gelu", "IsInf"), 4),
    **dict.fromkeys(("Or", "Xor"), 8),
    "Mod": 19,
}

NOT_APPLICABLE: dict[str, NotApplicable] = {
    r"test_celu_bfloat16": NoTensors("is bfloat16"),
    r"test_mod_(mixed_sign_int|uint)(8|16|32)(?<!_int32)": Refused(
        "must be float16, float32, int32 or int64"
    ),
    r"test_mod_uint64": NoTensors("input 'a' is uint64"),
}

INVALID = [
    InvalidCall(
        "Mod", {"a": zeros(3), "b": zeros(3)}, {"fmod": 2}, {"c": (3,)}, "fmod must be 0 or 1"
    ),
]

TABLE = Table(RANDOM, NODE_TESTS, NOT_APPLICABLE, INVALID)
