"""Test cases of GroupNormalization, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with groupnormalization_reference.py.
"""

import numpy as np
import pytest
from groupnormalization_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, uniform

CASES = [
    case
    for dtype in ("float32", "float16")
    for count in (6, 3)  # scales of channels, and of groups
    for case in cases(
        shapes=[
            {"x": (*shape, 5, 7), "scale": (count,), "bias": (count,)}
            for shape in [(2, 6), (1, 6, 2)]
        ]
        + [{"x": (3, 6, 1), "scale": (count,), "bias": (count,)}],
        values=[uniform(-1, 1), uniform(100, 101)],
        params=[{"num_groups": 3}, {"num_groups": 3, "epsilon": 0.1}],
        dtype=dtype,
    )
] + cases(
    shapes=[{"x": (2, 6, 4), "scale": (6,), "bias": (6,)}],
    values=[uniform(-1, 1)],
    params=[{"num_groups": 1}, {"num_groups": 6}],
    dtype="float32",
)
CHANNELS = {"scale": np.array([1, 2], np.float32), "bias": np.array([3, 4], np.float32)}
NOT_FINITE = [
    Case(
        str(element),
        {"x": np.array([[[element] + [1] * 19, [*range(20)]]], np.float32), **CHANNELS},
        {"num_groups": 2},
    )
    for element in (np.inf, -np.inf, np.nan)
]


# The parts of y, up to 400 in these cases, are each rounded to 2^-24 of them; they may cancel.
@pytest.mark.parametrize("case", CASES + NOT_FINITE, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=4, max_error=1e-4)


def normalized(x, num_groups, epsilon=0.0):
    """Return the reference's output for 2 scales and biases."""
    params = {"num_groups": num_groups, "epsilon": epsilon, "stash_type": 1}
    return reference({"x": np.array(x, np.float32), **CHANNELS}, params)["y"].tolist()


def test_reference():
    assert normalized([[[1, 3], [5, 9]]], 2) == [[[2, 4], [2, 6]]]
    assert normalized([[[1, 3], [1, 3]]], 1) == [[[2, 4], [2, 6]]]
    assert normalized([[[1, 3], [1, 3]]], 1, epsilon=3.0) == [[[2.5, 3.5], [3, 5]]]
    # Two channels in each of two groups, which have the scales.
    assert normalized([[[1], [3], [5], [9]]], 2) == [[[2], [4], [2], [6]]]


@pytest.mark.parametrize(
    ("shape", "scale", "params", "problem"),
    [
        ((2, 4), (4,), {}, "with 3 dimensions or more"),
        ((2, 4, 5), (4,), {"num_groups": 3}, "num_groups must be a divisor of the channels"),
        ((2, 4, 5), (4,), {"num_groups": 0}, "num_groups must be a divisor of the channels"),
        ((2, 4, 5), (3,), {}, "scale and bias must have an element for each channel, or for each"),
        ((2, 4, 5), (4,), {"stash_type": 10}, "stash_type must be 1"),
    ],
)
def test_invalid_calls_are_refused(shape, scale, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes(
            {"x": shape, "scale": scale, "bias": scale},
            {"num_groups": 2, "epsilon": 0.0, "stash_type": 1, **params},
        )


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(dict.fromkeys(("x", "scale", "bias"), np.ones((1, 1, 2), np.int32)), {})
