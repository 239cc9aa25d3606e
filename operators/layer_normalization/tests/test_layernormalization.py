"""Test cases of LayerNormalization, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with layernormalization_reference.py.
"""

import numpy as np
import pytest
from layernormalization_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, uniform

CASES = [
    case
    for dtype in ("float32", "float16")
    for shape, axis in [
        ((2, 3, 4, 5), 2),
        ((2, 3, 4, 5), 0),
        ((2, 3, 4, 5), -1),
        ((1, 7, 768), -1),
        ((9, 1), 1),
    ]
    for case in cases(
        shapes=[{"x": shape, "scale": shape[axis:], "b": shape[axis:]}],
        values=[uniform(-1, 1), uniform(100, 101)],
        params=[{"axis": axis}, {"axis": axis, "epsilon": 0.1}],
        dtype=dtype,
    )
]
SCALE = {"scale": np.ones(20, np.float32), "b": np.ones(20, np.float32)}
NOT_FINITE = [
    Case(str(element), {"x": np.array([[element] + [1] * 19, [*range(20)]], np.float32), **SCALE})
    for element in (np.inf, -np.inf, np.nan)
]


# The parts of y, up to 400 in these cases, are each rounded to 2^-24 of them; they may cancel.
@pytest.mark.parametrize("case", CASES + NOT_FINITE, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=4, max_error=1e-4)


def normalized(x, axis=-1, scale=None, b=None, epsilon=0.0):
    """Return the reference's outputs; by default with the scale 1 and the bias 0."""
    x = np.array(x, np.float32)
    tensors = {
        "x": x,
        "scale": np.ones(x.shape[axis:], np.float32) if scale is None else np.float32(scale),
        "b": np.zeros(x.shape[axis:], np.float32) if b is None else np.float32(b),
    }
    outputs = reference(tensors, {"axis": axis, "epsilon": epsilon, "stash_type": 1})
    return [outputs[name].tolist() for name in ("y", "mean", "invstddev")]


def test_reference():
    assert normalized([[1, 3], [5, 9]]) == [[[-1, 1], [-1, 1]], [[2], [7]], [[1], [0.5]]]
    assert normalized([[1, 1], [3, 3]], axis=0) == [[[-1, -1], [1, 1]], [[2]], [[1]]]
    assert normalized([[1, 3]], scale=[2, 4], b=[10, 20])[0] == [[8, 24]]
    assert normalized([[1, 3]], epsilon=3.0)[0] == [[-0.5, 0.5]]


@pytest.mark.parametrize(
    ("scale", "params", "problem"),
    [
        ((3,), {"axis": 2}, "axis must be a dimension of x"),
        ((3,), {"stash_type": 16}, "stash_type must be 1"),
        ((2,), {}, "scale and b must have the dimensions of x from axis on"),
        ((1,), {}, "they are not broadcast"),
        ((3,), {"axis": 0}, "scale and b must have the dimensions of x from axis on"),
    ],
)
def test_invalid_calls_are_refused(scale, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes(
            {"x": (2, 3), "scale": scale, "b": scale},
            {"axis": -1, "epsilon": 0.0, "stash_type": 1, **params},
        )


def test_leading_dimensions_of_1():
    shapes = {"x": (2, 3, 4), "scale": (1, 4), "b": (1, 1, 4)}
    params = {"axis": -1, "epsilon": 0.0, "stash_type": 1}
    assert output_shapes(shapes, params)["mean"] == (2, 3, 1)


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(dict.fromkeys(("x", "scale", "b"), np.ones(2, np.int32)), {})
