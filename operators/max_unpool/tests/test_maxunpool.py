"""Test cases of MaxUnpool, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with maxunpool_reference.py.
"""

import numpy as np
import pytest
from maxunpool_reference import output_shapes, reference

from opkit.testing import Values, cases, check_cpu_kernel, special, uniform


def places(size):
    """Return different indices from 0 to below a size."""

    def make(shape, dtype, random, _):
        return random.permutation(size)[: np.prod(shape)].reshape(shape).astype(dtype)

    return Values("places", f"places({size})", make)


GEOMETRIES = [  # the shape of x, the elements of the output without output_shape, params
    ((2, 3, 4, 5), 2 * 3 * 8 * 10, {"kernel_shape": [2, 2], "strides": [2]}),
    ((1, 2, 3, 4), 2 * 7 * 10, {"kernel_shape": [3, 4], "strides": [2, 2]}),
    ((1, 1, 3, 3), 6 * 5, {"kernel_shape": [3, 2], "strides": [2], "pads": [0, 1, 1, 0]}),
    ((2, 2, 7), 2 * 2 * 8, {"kernel_shape": [2]}),
    ((2, 2, 7), 2 * 2 * 7, {"kernel_shape": [9], "pads": [4]}),
    (
        (1, 2, 2, 3),
        2 * 4 * 6,
        {"kernel_shape": [2, 2], "strides": [2, 2], "output_shape": [1, 2, 7, 6]},
    ),
    (
        (2, 2, 2, 2, 2),
        4 * 3 * 3 * 4,
        {"kernel_shape": [2, 2, 2], "strides": [1, 1, 2], "output_shape": [2, 2, 3, 5, 5]},
    ),
]
CASES = [
    case
    for dtype in ("float32", "float16")
    for shape, size, params in GEOMETRIES
    for case in cases(
        shapes=[{"x": shape, "i": shape}],
        values=[{"x": values, "i": places(size)} for values in (uniform(-1, 1), special())],
        params=[params],
        dtype={"x": dtype, "i": "int64"},
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


DEFAULTS = {"kernel_shape": [2, 2], "strides": [2], "pads": [0], "output_shape": [0]}


def unpooled(x, i, **params):
    """Return the reference's output."""
    inputs = {"x": np.array(x, np.float32), "i": np.array(i, np.int64)}
    return reference(inputs, {**DEFAULTS, **params})["output"]


def test_reference():
    found = unpooled([[[[1, 2]]]], [[[[5, 3]]]])
    assert found.tolist() == [[[[0, 0, 0, 2], [0, 1, 0, 0]]]]
    found = unpooled([[[[1, 2]]]], [[[[5, 3]]]], output_shape=[1, 1, 3, 5])
    assert found.tolist() == [[[[0, 0, 0, 2, 0], [0, 1, 0, 0, 0], [0] * 5]]]
    assert unpooled([[[1, 2]]], [[[1, 1]]], kernel_shape=[3]).tolist() == [[[0, 2, 0, 0, 0]]]


@pytest.mark.parametrize(
    ("shape", "params", "problem"),
    [
        ((1, 2), {"kernel_shape": []}, "x must be"),
        ((1, 1, 2, 2, 2, 2), {}, "x must be"),
        ((1, 1, 2), {}, "kernel_shape and strides must have"),
        ((1, 1, 2, 2), {"strides": [1, 1, 1]}, "kernel_shape and strides must have"),
        ((1, 1, 2, 2), {"pads": [1, 1]}, "and pads two"),
        ((1, 1, 2, 2), {"strides": [0]}, "must be above 0"),
        ((1, 1, 2, 2), {"kernel_shape": [0, 1]}, "must be above 0"),
        ((1, 1, 2, 2), {"pads": [-1]}, "pads not negative"),
        ((1, 1, 2, 2), {"pads": [2]}, "pads must leave an image"),
        ((1, 1, 2, 2), {"output_shape": [1, 1, 4, 3]}, "output_shape must have"),
        ((1, 1, 2, 2), {"output_shape": [1, 2, 4, 4]}, "output_shape must have"),
        ((1, 1, 2, 2), {"output_shape": [1, 4, 4]}, "output_shape must have"),
    ],
)
def test_invalid_calls_are_refused(shape, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"x": shape, "i": shape}, {**DEFAULTS, **params})


def test_invalid_indices_are_refused():
    with pytest.raises(ValueError, match="i must have the shape of x"):
        output_shapes({"x": (1, 1, 2, 2), "i": (1, 1, 2)}, DEFAULTS)
    for place in (-1, 8):
        with pytest.raises(ValueError, match="i must be from 0 to 7"):
            unpooled([[[[1, 2]]]], [[[[0, place]]]])


def test_integers_are_refused():
    tensors = {"x": np.ones((1, 1, 2), np.int32), "i": np.ones((1, 1, 2), np.int64)}
    with pytest.raises(ValueError, match="x must be float16 or float32"):
        reference(tensors, {**DEFAULTS, "kernel_shape": [2]})
