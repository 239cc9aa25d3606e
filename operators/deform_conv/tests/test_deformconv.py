"""Test cases of DeformConv, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with deformconv_reference.py.
"""

import numpy as np
import pytest
from deformconv_reference import geometry, output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform

PARAMS = {
    "dilations": [1],
    "group": 1,
    "kernel_shape": [0],
    "offset_group": 1,
    "pads": [0],
    "strides": [1],
}
GEOMETRIES = [  # x, w, params
    ((1, 2, 5, 6), (3, 2, 3, 3), {"pads": [1]}),
    ((2, 4, 9, 11), (8, 2, 3, 2), {"group": 2, "offset_group": 4, "strides": [2, 1]}),
    ((1, 6, 8, 7), (6, 1, 1, 3), {"group": 6, "offset_group": 2, "pads": [0, 1, 0, 1]}),
    ((1, 6, 7, 9), (2, 3, 2, 3), {"group": 2, "offset_group": 3, "dilations": [3, 2]}),
    ((1, 3, 9, 1), (7, 3, 3, 1), {"kernel_shape": [3, 1]}),  # images of one column
    ((1, 2, 1, 5), (1, 2, 1, 1), {"pads": [1, 0, 2, 1]}),  # and of one row
    ((1, 70, 12, 13), (2, 70, 3, 3), {}),  # more channels than a matrix has
    ((1, 1, 24, 20), (1, 1, 16, 16), {}),  # the largest kernel
]


def shapes_of(x, w, params):
    """Return the shapes of all inputs."""
    settings = {**PARAMS, **params}
    output = geometry(x[2:], w[2:], settings)[0]
    samples = settings["offset_group"] * w[2] * w[3]
    return {
        "x": x,
        "w": w,
        "offset": (x[0], 2 * samples, *output),
        "b": w[:1],
        "mask": (x[0], samples, *output),
    }


VALUES = {"x": uniform(-1, 1), "w": uniform(-1, 1), "b": uniform(-1, 1), "mask": uniform(0, 1)}
CASES = [
    case
    for x, w, params in GEOMETRIES
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[shapes_of(x, w, params)],
        values=[{**VALUES, "offset": uniform(-3, 3)}],
        params=[params],
        dtype=dtype,
    )
]
SPECIAL = cases(
    shapes=[shapes_of((1, 2, 4, 5), (1, 2, 1, 2), {})],
    values=[{**VALUES, "offset": special()}],
    params=[{}],
    dtype="float32",
)

PIXELS = [np.inf, 1, 2, np.nan]
NOT_FINITE = Case(
    "not finite",
    {
        "x": np.array(PIXELS, np.float32).reshape(1, 1, 1, 4),
        "w": np.ones((1, 1, 1, 1), np.float32),
        "offset": np.array([[0] * 4, [1, 0.5, -0.5, 1]], np.float32).reshape(1, 2, 1, 4),
        "b": np.zeros(1, np.float32),
        "mask": np.ones((1, 1, 1, 4), np.float32),
    },
    {},
)


# Sums of up to 630 products of numbers up to 1: the kernel rounds each to float32, and the weights
# of a sample to 2^-22.
@pytest.mark.parametrize("case", CASES + SPECIAL, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=2e-5)


def deformed(x, offset, w=(1.0,), mask=1.0):
    """Return the reference's row of one channel, with offsets of columns."""
    count = len(offset)
    tensors = {
        "x": np.array(x, np.float32).reshape(1, 1, 1, -1),
        "w": np.array(w, np.float32).reshape(1, 1, 1, -1),
        "offset": np.zeros((1, 2 * len(w), 1, count), np.float32),
        "b": np.zeros(1, np.float32),
        "mask": np.full((1, len(w), 1, count), mask, np.float32),
    }
    tensors["offset"][:, 1] = offset
    return reference(tensors, PARAMS)["y"].ravel().tolist()


def test_reference_interpolates():
    assert deformed([10, 20, 40], [0, 0.5, -1.25]) == [10, 30, 17.5]
    assert deformed([10, 20, 40], [0.5, 0, 0], mask=2) == [30, 40, 80]
    assert deformed([1, 2, 4], [0.5, 0], w=[10, 1]) == [17, 24]


def test_reference_is_0_outside():
    assert deformed([10, 20, 40], [-0.75, 2, 0.25]) == [2.5, 0, 30]
    assert deformed([10, 20], [-np.inf, np.inf]) == [0, 0]
    assert np.isnan(deformed([10, 20], [np.nan, 0])).tolist() == [True, False]


def test_pixels_of_weight_0_are_not_read():
    check_cpu_kernel(NOT_FINITE, max_ulp=0)
    shifts = NOT_FINITE.inputs["offset"][0, 1].ravel().tolist()
    assert deformed(PIXELS, shifts) == [1, 1.5, 1.5, 0]


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({"x": (1, 2, 5)}, {}, "must have 4 dimensions"),
        ({"w": (4, 1, 3, 3)}, {}, "w must be"),
        ({"w": (4, 2, 6, 1)}, {}, "must fit into the image"),
        ({"w": (4, 2, 0, 3)}, {}, "1 to 256 elements"),
        ({"offset": (1, 9, 3, 3)}, {}, "offset must be"),
        ({"mask": (1, 9, 3, 4)}, {}, "mask must be"),
        ({"b": (3,)}, {}, "b must be"),
        ({}, {"strides": [1, 1, 1]}, "must have 2 items, and pads 4"),
        ({}, {"pads": [1, 1]}, "must have 2 items, and pads 4"),
        ({}, {"strides": [0]}, "must be above 0"),
        ({}, {"pads": [-1]}, "pads not negative"),
        ({}, {"kernel_shape": [3, 2]}, "must be that of w"),
        ({}, {"group": 0}, "must be above 0"),
        ({}, {"group": 3}, "a multiple of group"),
    ],
)
def test_invalid_calls_are_refused(shapes, params, problem):
    valid = shapes_of((1, 2, 5, 5), (4, 2, 3, 3), {})
    with pytest.raises(ValueError, match=problem):
        output_shapes({**valid, **shapes}, {**PARAMS, **params})


def test_integers_are_refused():
    tensors = dict.fromkeys(("x", "w", "offset", "b", "mask"), np.ones((1, 1, 1, 1), np.int32))
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, PARAMS)
