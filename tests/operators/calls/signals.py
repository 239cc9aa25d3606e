"""Fourier transforms and sums of products."""

from __future__ import annotations

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
    Table,
    floats,
    zeros,
)
from tests.operators.oracle import Call

LENGTHS = st.integers(1, 20) | st.sampled_from([31, 32, 37, 64, 74, 97, 100])
"""Among them factors of which the transform is a convolution: 37 and 97."""


def make_real(half: Array, length: int) -> None:
    """Make the elements real that are their own conjugates; onnxruntime takes them as they are."""
    half[0, ..., 1] = 0
    if length % 2 == 0:
        half[length // 2 : length // 2 + 1, ..., 1] = 0


@st.composite
def dft_calls(draw: Any) -> Call:
    outer = draw(st.lists(st.integers(1, 4), max_size=2))
    inner = draw(st.lists(st.integers(1, 11), max_size=1))
    inverse, onesided = draw(st.integers(0, 1)), draw(st.integers(0, 1))
    parts = 1 + inverse if onesided else draw(st.integers(1, 2))
    is_half = inverse * onesided
    side = max(draw(LENGTHS), 1 + is_half)  # a half of a single element has no length by default
    shape = (*outer, side, *inner, parts)
    axis = len(outer)
    x = draw(hnp.arrays(np.float32, shape, elements=floats(-1, 1)))
    inputs = {"input": x}
    length = draw(st.none() | LENGTHS)
    if is_half:
        # onnxruntime neither cuts a half, nor continues it.
        length = draw(st.none() | st.integers(2 * side - 2, 2 * side - 1))
        make_real(np.moveaxis(x, axis, 0), length or 2 * side - 2)
    if length is not None:
        inputs["dft_length"] = np.array(length)
    if len(shape) != 3 or axis != 1 or draw(st.booleans()):
        inputs["axis"] = np.array(axis - draw(st.sampled_from([0, len(shape)])))
    return Call(inputs, {"inverse": inverse, "onesided": onesided})


@st.composite
def einsum_calls(draw: Any) -> Call:
    """Return equations of 1 to 6 letters, with diagonals, sums of one input, and sides of 1."""
    letters = draw(st.permutations("abcdef"))[: draw(st.integers(1, 6))]
    sides = {letter: draw(st.integers(1, 9)) for letter in letters}
    some = st.lists(st.sampled_from(letters), min_size=1, max_size=4)
    terms = draw(some), draw(some)
    known = [each for each in letters if each in terms[0] + terms[1]]
    kept = draw(st.permutations(known))[: draw(st.integers(0, len(known)))]
    dots = draw(st.lists(st.integers(1, 3), max_size=2)) if max(map(len, terms)) <= 3 else []
    inputs = {}
    for index, term in enumerate(terms):
        is_repeated = draw(st.booleans()) and len({*term}) == len(term)
        shape = [1 if is_repeated and letter == term[0] else sides[letter] for letter in term]
        values = hnp.arrays(np.float32, (*dots, *shape), elements=floats(-1, 1))
        inputs[f"Input_{index}"] = draw(values)
    prefix = "..." if dots else ""
    left = ",".join(prefix + "".join(term) for term in terms)
    has_output = draw(st.booleans()) or len({*terms[0]} ^ {*terms[1]}) + len(dots) > 6
    right = f"->{prefix}{''.join(kept)}" if has_output else ""
    return Call(inputs, {"equation": left + right})


@st.composite
def stft_calls(draw: Any) -> Call:
    parts = draw(st.integers(1, 2))
    length = draw(st.integers(2, 20) | st.sampled_from([31, 37, 64]))
    count = length + draw(st.integers(0, 60))
    shape = (draw(st.integers(1, 2)), count, parts)
    inputs = {
        "signal": draw(hnp.arrays(np.float32, shape, elements=floats(-1, 1))),
        "frame_step": np.array(draw(st.integers(1, 9))),
        "window": draw(hnp.arrays(np.float32, (length,), elements=floats(-1, 1))),
    }
    if draw(st.booleans()):
        inputs["frame_length"] = np.array(length)
    return Call(inputs, {"onesided": draw(st.integers(0, 2 - parts))})


RANDOM = {
    # onnxruntime computes in float32, and lengths that are no power of 2 by a
    # convolution: its error was 5e-4 in a sum of 31 terms. The kernels are exact to 1 ulp.
    "DFT": Random(dft_calls(), [20], atol=2e-3, count=150),
    "STFT": Random(stft_calls(), [17, 20], atol=2e-3, count=100),
    # Both compute in float32: sums of up to 9^4 products.
    "Einsum": Random(einsum_calls(), [12, 20], rtol=1e-5, atol=1e-4, count=200),
}

FRAME = {"frame_step": 1}

INVALID = [
    *(
        InvalidCall("DFT", {"input": zeros(*shape)}, params, {"output": (1, 4, 2)}, problem)
        for shape, params, problem in [
            ((4,), {}, "input must be"),
            ((1, 4, 3), {}, "input must be"),
            ((1, 4, 4, 1), {}, "axis must be given"),
            ((1, 4, 1), {"axis": 2}, "must be a dimension of input but the last one"),
            ((1, 4, 1), {"inverse": 2}, "inverse must be 0 or 1"),
            ((1, 4, 1), {"onesided": 2}, "onesided must be 0 or 1"),
            ((1, 4, 2), {"onesided": 1}, "input must be real"),
            ((1, 4, 1), {"onesided": 1, "inverse": 1}, "input must be complex"),
            ((1, 1, 2), {"onesided": 1, "inverse": 1}, "dft_length must be above 0"),
        ]
    ),
    *(
        InvalidCall(
            "STFT",
            {"signal": zeros(*shape), "window": zeros(2)},
            params,
            {"output": (1, 3, 2, 2)},
            problem,
        )
        for shape, params, problem in [
            ((4, 1), FRAME, "signal must be"),
            ((1, 1, 1), FRAME, "must fit into signal"),
            ((1, 4, 1), FRAME | {"frame_step": 0}, "frame_step must be above 0"),
            ((1, 4, 1), FRAME | {"frame_length": 3}, "window must be"),
            ((1, 4, 1), FRAME | {"onesided": 2}, "onesided must be 0 or 1"),
            ((1, 4, 2), FRAME, "signal must be real"),
        ]
    ),
]

INVALID += [
    InvalidCall(
        "Einsum",
        {"input_0": zeros(*one), "input_1": zeros(*other)},
        {"equation": equation},
        {"output": (1,)},
        problem,
    )
    for equation, one, other, problem in [
        ("i", (2,), (2,), "must have 2 inputs"),
        ("i,j,k", (2,), (2,), "must have 2 inputs"),
        ("i...j,j->i", (1,), (2,), "more letters than dimensions"),
        ("i,j->i", (2, 2), (2,), "a letter for each dimension"),
        ("i1,j->i", (2, 2), (2,), "must have letters"),
        ("i,j-i", (2,), (2,), "must have letters"),
        ("i,i->i", (2,), (3,), "must be equal, or 1"),
        ("i,j->k", (2,), (2,), "once, and in an input"),
        ("i,j->ii", (2,), (2,), "once, and in an input"),
        ("...i,i->i", (2, 2), (2,), "in the output, too"),
        ("abcd,efgh->abcdefgh", (1,) * 4, (1,) * 4, "at most 6 dimensions"),
        ("abcd,efgh", (1,) * 4, (1,) * 4, "at most 6 dimensions"),
    ]
]

NOT_APPLICABLE: dict[str, NotApplicable] = {
    r"test_stft": NoTensors("the case has the inputs signal;"),  # without window
    r"test_einsum_.*bfloat16": NoTensors("is bfloat16|has the inputs input_0"),
    r"test_einsum_(batch_diagonal|scalar|sum|transpose)": NoTensors("has the inputs input_0;"),
}

NODE_TESTS = {"DFT": 10, "STFT": 2, "Einsum": 6}
NODE_ATOL = {"DFT": 1e-6}
"""onnx computes its outputs in float32, of numbers up to 1,000: for an exact 0 it has 2e-7."""

TABLE = Table(RANDOM, NODE_TESTS, NOT_APPLICABLE, INVALID, NODE_ATOL)
