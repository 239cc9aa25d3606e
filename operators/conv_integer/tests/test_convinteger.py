"""Test cases of ConvInteger, for every kernel: layouts x types.

`scons check` runs each case on the CPU kernel and compares with convinteger_reference.py.
"""

import itertools

import numpy as np
import pytest
from convinteger_reference import output_shapes, reference

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
    ((1, 1, 150), (2, 1, 3), {"pads": [70, 90]}),  # blocks of windows beyond the image
    ((1, 2, 1200), (2, 2, 1100), {}),  # more numbers of a kernel than it keeps places of
]
TYPES = [*itertools.product([np.int8, np.uint8], repeat=2)]


def integers(random, shape, dtype):
    """Return all numbers of a type."""
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def cases():
    """Return a case of each layout and pair of types."""
    for number, ((x, w, params), (left, right)) in enumerate(itertools.product(LAYOUTS, TYPES)):
        random = np.random.default_rng(number)
        inputs = {
            "x": integers(random, x, left),
            "w": integers(random, w, right),
            "x_zero_point": integers(random, 1, left),
            "w_zero_point": integers(random, w[0] if number % 3 else 1, right),
        }
        yield Case(
            f"{x} {w} {left.__name__} {right.__name__} {number % 3} {params}", inputs, params
        )


CASES = [*cases()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def test_sums_wrap_around():
    """2^31 is too large for int32."""
    x, w = np.full((1, 33026, 1), 255, np.uint8), np.full((1, 33026, 1), 255, np.uint8)
    zero = np.zeros(1, np.uint8)
    inputs = {"x": x, "w": w, "x_zero_point": zero, "w_zero_point": zero}
    assert reference(inputs, DEFAULTS)["y"].tolist() == [[[33026 * 255**2 - 2**32]]]
    check_cpu_kernel(Case("overflow", inputs, {}))


def sums(x, w, x_zero, w_zero, **params):
    """Return the reference's sums of an image of one dimension and one channel."""
    inputs = {
        "x": np.uint8([[x]]),
        "w": np.int8([[each] for each in w]),
        "x_zero_point": np.uint8(x_zero),
        "w_zero_point": np.int8(w_zero),
    }
    return reference(inputs, {**DEFAULTS, **params})["y"][0].tolist()


def test_reference():
    assert sums([1, 2, 255], [[3, -1]], [0], [0]) == [[1, -249]]
    # Without zero points: [0, 1, 4] with [3, -1] and with [-1, 0].
    assert sums([1, 2, 5], [[3, -1], [0, 1]], [1], [0, 1]) == [[-1, -1], [0, -1]]


def test_reference_pads_with_the_zero_point():
    assert sums([7, 9], [[2, 3]], [5], [1], pads=[1, 1]) == [[4, 2 + 8, 4]]


def test_reference_of_strides_and_dilations():
    assert sums([1, 2, 3, 4, 5], [[1, 10]], [0], [0], dilations=[2]) == [[31, 42, 53]]
    assert sums([1, 2, 3, 4, 5], [[1, 10]], [0], [0], strides=[3]) == [[21, 54]]
    assert sums([1, 2, 3], [[1, 10]], [0], [0], auto_pad="SAME_UPPER") == [[21, 32, 3]]
    assert sums([1, 2, 3], [[1, 10]], [0], [0], auto_pad="SAME_LOWER") == [[10, 21, 32]]


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
    ],
)
def test_invalid_shapes_are_refused(shapes, params, problem):
    valid = {"x": (1, 4, 5, 5), "w": (4, 2, 3, 3), "x_zero_point": (1,), "w_zero_point": (4,)}
    with pytest.raises(ValueError, match=problem):
        output_shapes({**valid, **shapes}, {**DEFAULTS, "group": 2, **params})


@pytest.mark.parametrize(
    ("name", "problem"), [("x", "must be int8 or uint8"), ("x_zero_point", "of the types of x and")]
)
def test_other_types_are_refused(name, problem):
    inputs = {each: np.zeros((1, 1, 1), np.int8) for each in ("x", "w")}
    inputs |= {f"{each}_zero_point": np.zeros(1, np.int8) for each in ("x", "w")}
    with pytest.raises(ValueError, match=problem):
        reference({**inputs, name: inputs[name].astype(np.int16)}, DEFAULTS)
