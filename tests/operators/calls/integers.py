"""Operators of integers: bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.operators.calls.common import (
    EXACT,
    InvalidCall,
    NotApplicable,
    NoTensors,
    Random,
    Table,
    shapes,
    zeros,
)
from tests.operators.calls.elementwise import broadcast_arrays
from tests.operators.oracle import Call

DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64]
"""The integers that onnxruntime and PPLNN both have."""
PATTERNS = EXACT.filter(lambda each: each < 2**24)


def elements(dtype: Any) -> st.SearchStrategy[Any]:
    """Return all integers of a dtype, or those that librknnrt 1.6.0 passes unchanged."""
    return PATTERNS if dtype in (np.int32, np.int64) else hnp.from_dtype(np.dtype(dtype))


@st.composite
def bitwise_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from(DTYPES))
    a, b = draw(broadcast_arrays(dtype, elements(dtype)))
    return Call({"A": a, "B": b}, {})


@st.composite
def bitwise_not_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from(DTYPES))
    return Call({"X": draw(hnp.arrays(dtype, shapes(), elements=elements(dtype)))}, {})


@st.composite
def bit_shift_calls(draw: Any) -> Call:
    """Return shifts of the types that onnxruntime has, by fewer bits than they have."""
    dtype = draw(st.sampled_from([np.uint8, np.uint32]))
    x, y = draw(broadcast_arrays(dtype, elements(dtype)))
    bits = 8 * np.dtype(dtype).itemsize
    direction = draw(st.sampled_from(["LEFT", "RIGHT"]))
    return Call({"X": x, "Y": y % dtype(bits)}, {"direction": direction})


RANDOM = {
    "BitShift": Random(bit_shift_calls(), [11]),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), Random(bitwise_calls(), [18])),
    "BitwiseNot": Random(bitwise_not_calls(), [18]),
}

NODE_TESTS = {
    "BitShift": 28,
    "BitwiseNot": 3,
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), 4),
}

NOT_APPLICABLE: dict[str, NotApplicable] = {
    r"test_bitwise_(and|or|xor)_ui64_bcast_3v1d": NoTensors("input 'a' is uint64"),
    r"test_bitshift_(left|right)_uint64": NoTensors("input 'x' is uint64"),
}

HALVES = np.array([0.5, 1], np.float32)
INVALID = [
    InvalidCall("BitwiseAnd", {"a": zeros(2), "b": HALVES}, {}, {"c": (2,)}, "must be integers"),
    InvalidCall("BitwiseNot", {"x": HALVES}, {}, {"y": (2,)}, "x must be integers"),
    InvalidCall(
        "BitShift",
        {"x": zeros(2), "y": zeros(2)},
        {"direction": "LEFT"},
        {"z": (2,)},
        "must be integers",
    ),
    *(
        InvalidCall(
            name,
            {first: zeros(2, dtype=np.int16), second: zeros(2, dtype=np.int8)},
            params,
            {output: ((2,), np.int16)},
            "must be of one type",
        )
        for name, first, second, output, params in [
            ("BitwiseOr", "a", "b", "c", {}),
            ("BitShift", "x", "y", "z", {"direction": "LEFT"}),
        ]
    ),
]

TABLE = Table(RANDOM, NODE_TESTS, NOT_APPLICABLE, INVALID)
