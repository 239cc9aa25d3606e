"""Test cases of QLinearConv, for every kernel: layouts x types.

`scons check` runs each case on the CPU kernel and compares with qlinearconv_reference.py.
"""

import itertools

import numpy as np
import pytest
from qlinearconv_reference import output_shapes, reference

from opkit.testing import Case, check_cpu_kernel

DEFAULTS = {
    "kernel_shape": [0],
    "strides": [1],
    "dilations": [1],
    "pads": [0],
    "auto_pad": "NOTSET",
    "group": 1,
}
LAYOUTS = [  # x, w, params; zero points of w are one for each kernel where there are several
    ((1, 1, 1), (1, 1, 1), {}),
    ((1, 3, 5, 9), (4, 3, 3, 2), {"pads": [1, 0, 2, 1]}),
    ((2, 6, 7), (9, 2, 3), {"group": 3, "strides": [2], "pads": [2, 1]}),
    ((1, 4, 8, 7), (4, 1, 3, 3), {"group": 4, "pads": [1]}),
    ((1, 30, 12, 11), (131, 30, 3, 3), {"pads": [1], "kernel_shape": [3, 3]}),  # several blocks
    ((2, 2, 9, 9), (3, 2, 2, 3), {"dilations": [3, 2], "strides": [1, 2], "pads": [0, 3, 4, 1]}),
    ((1, 2, 9, 8), (3, 2, 3, 2), {"auto_pad": "SAME_UPPER", "strides": [2, 3]}),
    ((1, 2, 9, 8), (3, 2, 3, 2), {"auto_pad": "SAME_LOWER", "strides": [2, 1]}),
    ((1, 1, 9, 8), (1, 1, 1, 1), {"auto_pad": "SAME_LOWER", "strides": [4, 3]}),
    ((1, 2, 6, 5), (2, 2, 2, 2), {"auto_pad": "VALID", "pads": [1], "dilations": [2, 1]}),
    ((1, 2, 3, 4, 5), (2, 2, 2, 3, 2), {"pads": [1, 2, 0, 0, 1, 3], "strides": [1, 2, 2]}),
    ((1, 1, 2), (2, 1, 1), {"pads": [3, 9], "strides": [4]}),  # windows beyond the image
    ((1, 1, 150), (3, 1, 4), {"strides": [2]}),
]
TYPES = [*itertools.product([np.int8, np.uint8], repeat=2)]


def integers(random, shape, dtype):
    """Return all numbers of a type."""
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def cases():
    """Return a case of each layout and pair of types; some results saturate."""
    for number, ((x, w, params), (left, right)) in enumerate(itertools.product(LAYOUTS, TYPES)):
        random = np.random.default_rng(number)
        step = 100.0 * np.prod(w[1:]) ** 0.5  # of numbers as large as the sums
        inputs = {
            "x": integers(random, x, left),
            "x_scale": random.uniform(0.5, 2, 1).astype(np.float32),
            "x_zero_point": integers(random, 1, left),
            "w": integers(random, w, right),
            "w_scale": random.uniform(0.5, 2, w[0] if number % 2 else 1).astype(np.float32),
            "w_zero_point": integers(random, w[0] if number % 3 else 1, right),
            "y_scale": random.uniform(step / 2, step, 1).astype(np.float32),
            "y_zero_point": integers(random, 1, left),
            "b": random.integers(-9000, 9000, w[0]).astype(np.int32),
        }
        yield Case(
            f"{x} {w} {left.__name__} {right.__name__} {number % 6} {params}", inputs, params
        )


CASES = [*cases()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def inputs_of(x, w, scales, zeros, bias=0):
    """Return an image of one dimension and one channel, and a kernel, of int8."""
    return {
        "x": np.int8([[x]]),
        "x_scale": np.float32(scales[:1]),
        "x_zero_point": np.int8(zeros[:1]),
        "w": np.int8([[w]]),
        "w_scale": np.float32(scales[1:2]),
        "w_zero_point": np.int8(zeros[1:2]),
        "y_scale": np.float32(scales[2:]),
        "y_zero_point": np.int8(zeros[2:]),
        "b": np.int32([bias]),
    }


def numbers(*args):
    """Return the reference's numbers; kernels compute the same."""
    inputs = inputs_of(*args)
    check_cpu_kernel(Case("given", inputs, {}))
    return reference(inputs, DEFAULTS)["y"].ravel().tolist()


def test_reference_rounds_half_to_even():
    assert numbers([1, 3, 5, -1, -3], [1], (1, 1, 2), (0, 0, 0)) == [0, 2, 2, 0, -2]


def test_reference_saturates():
    assert numbers([100, -100, 3], [100], (0.5, 4, 2), (0, 0, -3)) == [127, -128, 127]


def test_reference_has_zero_points_and_a_bias():
    found = numbers([10, -2, 7], [4, 6], (0.5, 0.5, 0.25), (3, 2, -5), 9)
    assert found == [7 * 2 - 5 * 4 + 4, -5 * 2 + 4 * 4 + 4]


def test_a_bias_wraps_around():
    assert numbers([1], [1], (1, 1, 2.0**25), (0, 0, 0), 2**31 - 1) == [-64]


def test_a_scale_of_nan_gives_the_lower_limit():
    assert numbers([10, -2], [4], (np.nan, 0.5, 0.25), (3, 2, -5)) == [-128, -128]


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({"x": (1, 4)}, {}, "with 1 to 3 dimensions"),
        ({"w": (4, 2, 3)}, {}, "with 1 to 3 dimensions"),
        ({}, {"group": 1}, "group must divide"),
        ({}, {"group": 0}, "group must divide"),
        ({"w": (3, 2, 3, 3)}, {}, "group must divide"),
        ({}, {"strides": [1, 1, 1]}, "must have an item for each dimension"),
        ({}, {"kernel_shape": [3]}, "must have an item for each dimension"),
        ({}, {"pads": [1, 1]}, "must have an item for each dimension"),
        ({}, {"dilations": [0]}, "must be above 0"),
        ({}, {"pads": [0, 0, -1, 0]}, "pads not negative"),
        ({}, {"auto_pad": "SAME"}, "auto_pad must be"),
        ({}, {"kernel_shape": [3, 2]}, "must be the shape of w"),
        ({}, {"dilations": [4]}, "a window must fit"),
        ({"x_zero_point": (2,)}, {}, "x_zero_point must be one number"),
        ({"w_zero_point": (1, 4)}, {}, "w_zero_point one or"),
        ({"x_scale": (2,)}, {}, "of x and y must be one number"),
        ({"y_scale": (2,)}, {}, "of x and y must be one number"),
        ({"y_zero_point": (4,)}, {}, "of x and y must be one number"),
        ({"w_scale": (2,)}, {}, "w_scale must be one number"),
        ({"b": (1,)}, {}, "b must be int32"),
    ],
)
def test_invalid_shapes_are_refused(shapes, params, problem):
    names = inputs_of([1], [1], (1, 1, 1), (0, 0, 0))
    valid = {**dict.fromkeys(names, (1,)), "x": (1, 4, 5, 5), "w": (4, 2, 3, 3), "b": (4,)}
    with pytest.raises(ValueError, match=problem):
        output_shapes({**valid, **shapes}, {**DEFAULTS, "group": 2, **params})


@pytest.mark.parametrize(
    ("name", "dtype", "problem"),
    [
        ("x", np.int16, "must be int8 or uint8"),
        ("w_zero_point", np.uint8, "of the types of x and w"),
        ("y_zero_point", np.uint8, "must be of the type of x"),
        ("w_scale", np.int32, "must be float16 or float32"),
        ("b", np.int64, "b must be int32"),
    ],
)
def test_other_types_are_refused(name, dtype, problem):
    inputs = inputs_of([1], [1], (1, 1, 1), (0, 0, 0))
    with pytest.raises(ValueError, match=problem):
        reference({**inputs, name: inputs[name].astype(dtype)}, DEFAULTS)
