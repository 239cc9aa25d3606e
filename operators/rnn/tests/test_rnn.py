"""Test cases of RNN, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with rnn_reference.py.
"""

import numpy as np
import pytest
from rnn_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, integers, special, uniform


def shapes_of(length=5, count=3, size=9, hidden=5, directions=1, lengths=None, layout=0):
    """Return the shapes of all inputs."""
    turn = -1 if layout else 1
    return {
        "x": (*(length, count)[::turn], size),
        "w": (directions, hidden, size),
        "r": (directions, hidden, hidden),
        "b": (directions, 2 * hidden),
        "sequence_lens": (lengths or count,),
        "initial_h": (*(directions, count)[::turn], hidden),
    }


VALUES = {
    **dict.fromkeys(("x", "b", "initial_h"), uniform(-1, 1)),
    **dict.fromkeys(("w", "r"), uniform(-0.5, 0.5)),
}
SOME = {**VALUES, "sequence_lens": integers(0, 5)}
ALL = {**VALUES, "sequence_lens": integers(-1, -1)}
BOTH = {"direction": "bidirectional"}
GEOMETRIES = [  # shapes, values, params
    (shapes_of(), SOME, {"direction": "forward"}),
    (shapes_of(count=7, hidden=8), SOME, {"direction": "reverse", "hidden_size": 8}),
    (shapes_of(count=6, hidden=19, directions=2), SOME, BOTH),
    (shapes_of(directions=2, lengths=1, layout=1), ALL, {**BOTH, "layout": 1}),
    (shapes_of(length=6, count=6, layout=1), SOME, {"activations": "Relu", "layout": 1}),
    (shapes_of(length=9, count=1, size=40, hidden=33, lengths=1), ALL, {"clip": 0.25}),
    (shapes_of(length=30, count=5, size=40, hidden=33), SOME, {}),  # several threads
    (shapes_of(length=1, count=1, size=1, hidden=1), ALL, {"activations": "Sigmoid"}),
]
FUNCTIONS = ["Tanh,Relu", "Tanh,Sigmoid", "Relu,Tanh", "Relu,Relu", "Relu,Sigmoid"]
FUNCTIONS += ["Sigmoid,Tanh", "Sigmoid,Relu", "Sigmoid,Sigmoid"]
DTYPES = [
    {name: "int32" if name == "sequence_lens" else dtype for name in shapes_of()}
    for dtype in ("float32", "float16")
]
CASES = [
    case
    for dtype in DTYPES
    for shapes, values, params in GEOMETRIES
    for case in cases(shapes=[shapes], values=[values], params=[params], dtype=dtype)
]
CASES += cases(
    shapes=[shapes_of(length=3, count=2, directions=2, lengths=1)],
    values=[ALL],
    params=[{**BOTH, "activations": each} for each in FUNCTIONS],
    dtype=DTYPES[0],
)
SPECIAL = [
    case
    for name in ("x", "b", "initial_h")
    for case in cases(
        shapes=[shapes_of(length=2)],
        values=[{**SOME, name: special(), "sequence_lens": integers(1, 2)}],
        params=[{"activations": "Relu"}, {"activations": "Tanh", "clip": 3.0}],
        dtype=DTYPES[0],
    )
]


# The kernel adds up to 40 products of x and 33 of a state in float32, of up to 5 positions.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=2, max_error=2e-6)


# The same, with numbers up to 1e38: the largest one of each sum counts.
@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_cpu_kernel_special(case):
    check_cpu_kernel(case, max_ulp=8, max_error=2e-6)


DEFAULTS = {
    "activations": "Tanh,Tanh",
    "clip": 0.0,
    "direction": "forward",
    "hidden_size": 0,
    "layout": 0,
}


def states(x, w=1.0, r=0.0, b=(0, 0), lengths=-1, past=0.0, **params):
    """Return the reference's states and last ones of sequences of one element; Relu by default."""
    directions = 2 if params.get("direction") == "bidirectional" else 1
    x = np.array(x, np.float32).reshape(len(x), -1, 1)
    inputs = {
        "x": x,
        "w": np.full((directions, 1, 1), w, np.float32),
        "r": np.full((directions, 1, 1), r, np.float32),
        "b": np.tile(np.float32(b), (directions, 1)),
        "sequence_lens": np.atleast_1d(np.int32(lengths)),
        "initial_h": np.full((directions, x.shape[1], 1), past, np.float32),
    }
    found = reference(inputs, {**DEFAULTS, "activations": "Relu,Relu", **params})
    return [found[name][..., 0].tolist() for name in ("y", "y_h")]


def test_reference_recurrence():
    y, last = states([1, 2, -9], w=2.0, r=10.0, b=(3, 4), past=0.5)
    assert (y, last) == ([[[14]], [[151]], [[1499]]], [[1499]])


def test_reference_directions_and_lengths():
    x = [[1, 10], [2, 20], [3, 30]]
    y, last = states(x, r=100.0, lengths=[2, 3], direction="bidirectional")
    assert last == [[102, 102030], [201, 302010]]
    assert [row[0][0] for row in y] == [1, 102, 0]
    assert [row[1][0] for row in y] == [201, 2, 0]
    assert states([1, 2], lengths=[0], past=5.0) == [[[[0]], [[0]]], [[0]]]


def test_reference_functions():
    assert states([1], activations="Tanh")[1] == pytest.approx(np.array([[np.tanh(1)]]))
    assert states([1], activations="Sigmoid")[1] == pytest.approx(np.array([[1 / (1 + np.e**-1)]]))
    assert states([-1], activations="Relu")[1] == [[0]]
    assert states([5], clip=2.0)[1] == [[2]]


def test_reference_layout():
    x = np.arange(6, dtype=np.float32).reshape(3, 2, 1)
    tensors = {
        "w": np.ones((2, 1, 1), np.float32),
        "r": np.ones((2, 1, 1), np.float32),
        "b": np.zeros((2, 2), np.float32),
        "sequence_lens": np.array([3, 1], np.int32),
    }
    past = np.arange(4, dtype=np.float32).reshape(2, 2, 1)
    found = [
        reference(
            {**tensors, "x": x_, "initial_h": past_},
            {**DEFAULTS, "direction": "bidirectional", "layout": layout},
        )
        for layout, x_, past_ in [(0, x, past), (1, x.swapaxes(0, 1), past.swapaxes(0, 1))]
    ]
    np.testing.assert_array_equal(found[0]["y"].transpose(2, 0, 1, 3), found[1]["y"])
    np.testing.assert_array_equal(found[0]["y_h"].swapaxes(0, 1), found[1]["y_h"])


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({"x": (5, 9)}, {}, "x must be"),
        ({"w": (1, 5, 8)}, {}, "w must be"),
        ({"w": (2, 5, 9)}, {}, "w must be"),
        ({"r": (1, 5, 4)}, {}, "r must be"),
        ({}, {"hidden_size": 4}, "r must be"),
        ({}, {"direction": "bidirectional"}, "r must be"),
        ({"b": (1, 5)}, {}, "b must be"),
        ({"sequence_lens": (2,)}, {}, "sequence_lens must be"),
        ({"initial_h": (3, 1, 5)}, {}, "initial_h must be"),
        ({}, {"layout": 1}, "initial_h must be"),
        ({}, {"direction": "bidirectional", "activations": "Relu"}, "for each direction"),
    ],
)
def test_invalid_shapes_are_refused(shapes, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**shapes_of(), **shapes}, {**DEFAULTS, **params})


@pytest.mark.parametrize("lengths", [[6], [-2], [-1, 1]])
def test_invalid_lengths_are_refused(lengths):
    with pytest.raises(ValueError, match="sequence_lens must be"):
        states(np.ones((5, len(lengths))), lengths=lengths)


def test_integers_are_refused():
    tensors = {name: np.ones(shape, np.int32) for name, shape in shapes_of().items()}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, DEFAULTS)
