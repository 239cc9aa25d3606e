"""Test cases of CTCBeamSearchDecoder, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with
ctcbeamsearchdecoder_reference.py.
"""

import itertools

import numpy as np
import pytest
from ctcbeamsearchdecoder_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, integers, special, uniform

DTYPES = {dtype: {"data": dtype, "sequence_length": "int32"} for dtype in ("float32", "float16")}
CASES = [
    case
    for dtype in DTYPES.values()
    for (count, length, classes), params in [
        ((2, 6, 4), {"beam_width": 3, "top_paths": 2}),
        ((1, 12, 3), {"beam_width": 5, "top_paths": 5, "blank_index": 0}),
        ((1, 9, 20), {"beam_width": 40, "blank_index": 7}),
        ((2, 3, 2), {"beam_width": 9, "top_paths": 9}),  # more than there are
        ((1, 5, 1), {"beam_width": 1}),
    ]
    for case in cases(
        shapes=[{"data": (count, length, classes), "sequence_length": (count,)}],
        values=[
            {"data": values, "sequence_length": integers(length // 2, length)}
            for values in (uniform(-1, 1), uniform(-8, 0))
        ],
        params=[params],
        dtype=dtype,
    )
]
SPECIAL = cases(
    shapes=[{"data": (5, 1, 6), "sequence_length": (5,)}],
    values=[{"data": special(), "sequence_length": integers(1, 1)}],
    params=[{"beam_width": 4, "top_paths": 2}],
    dtype=DTYPES["float32"],
)


# Both compute in float64; then it is rounded.
@pytest.mark.parametrize("case", CASES + SPECIAL, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


SETTINGS = {"beam_width": 1000, "top_paths": 1, "blank_index": -1}


def decoded(data, **params):
    """Return the reference's labels and probabilities of a sequence."""
    inputs = {
        "data": np.float32(data)[np.newaxis],
        "sequence_length": np.array([len(data)], np.int32),
    }
    found = reference(inputs, {**SETTINGS, **params})
    rows = zip(found["classes_index"][0].tolist(), found["count"][0].tolist(), strict=True)
    return [row[:count] for row, count in rows], np.exp(found["log_probability"][0]).tolist()


def labels_of(path, blank):
    """Return the labels of a path, by the definition of CTC."""
    return tuple(label for label, _ in itertools.groupby(path) if label != blank)


@pytest.mark.parametrize("blank", [0, 2])
def test_reference_has_the_sums_over_all_paths(blank):
    data = np.random.default_rng(3).uniform(-1, 1, (5, 3)).astype(np.float32)
    rows = np.exp(data) / np.exp(data).sum(axis=1, keepdims=True)
    sums = {}
    for path in itertools.product(range(3), repeat=5):
        labels = labels_of(path, blank)
        sums[labels] = sums.get(labels, 0) + np.prod([rows[i, at] for i, at in enumerate(path)])
    best = sorted(sums, key=sums.get, reverse=True)
    labels, probabilities = decoded(data, top_paths=len(best), blank_index=blank)
    assert [tuple(each) for each in labels] == best
    assert probabilities == pytest.approx([sums[each] for each in best], rel=1e-5)


def test_reference_beam():
    """The best path has no label, but two thirds of the probability have one (Graves, 7.5)."""
    data = np.log([[0.4, 0.6], [0.4, 0.6]])
    assert decoded(data) == ([[0]], pytest.approx([0.64]))
    assert decoded(data, beam_width=1) == ([[]], pytest.approx([0.36]))
    assert decoded(data, beam_width=3, top_paths=3) == (
        [[0], [], []],
        pytest.approx([0.64, 0.36, 0]),
    )


def test_reference_limits():
    assert decoded(np.zeros((0, 3)))[0] == [[]]
    assert decoded([[np.inf, 0, -np.inf], [np.nan, np.inf, 0]]) == ([[0, 1]], [1])


@pytest.mark.parametrize(
    ("data", "lengths", "params", "problem"),
    [
        ((5, 3), (5,), {}, "data must be"),
        ((1, 5, 0), (1,), {}, "data must be"),
        ((2, 5, 3), (1,), {}, "sequence_length must be"),
        ((2, 5, 3), (2,), {"blank_index": 3}, "blank_index must be -1 or a class, not 3"),
        ((2, 5, 3), (2,), {"top_paths": 1001}, "top_paths must be at most beam_width"),
    ],
)
def test_invalid_shapes_are_refused(data, lengths, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"data": data, "sequence_length": lengths}, {**SETTINGS, **params})


@pytest.mark.parametrize("length", [-1, 3])
def test_invalid_lengths_are_refused(length):
    inputs = {"data": np.zeros((1, 2, 3), np.float32), "sequence_length": np.array([length])}
    with pytest.raises(ValueError, match="must be from 0 to T"):
        reference(inputs, SETTINGS)


def test_integers_are_refused():
    inputs = {"data": np.ones((1, 2, 3), np.int32), "sequence_length": np.array([2], np.int32)}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(inputs, SETTINGS)
