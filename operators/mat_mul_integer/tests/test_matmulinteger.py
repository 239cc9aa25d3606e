"""Test cases of MatMulInteger, for every kernel: shapes x zero points x types.

`scons check` runs each case on the CPU kernel and compares with matmulinteger_reference.py.
"""

import itertools

import numpy as np
import pytest
from matmulinteger_reference import output_shapes, reference

from opkit.testing import Case, check_cpu_kernel

SHAPES = [  # a, b, a_zero_point, b_zero_point
    ((1, 1), (1, 1), (1,), (1,)),
    ((5, 7), (7, 3), (1,), (3,)),
    ((3, 300), (300, 70), (3,), (1,)),  # more terms and columns than a block has
    ((131, 9), (9, 65), (131,), (65,)),  # more rows
    ((2, 3, 4, 33), (33, 5), (1,), (5,)),
    ((2, 3, 4, 8), (3, 8, 5), (4,), (5,)),
    ((3, 1, 2, 6), (1, 2, 6, 4), (1,), (1,)),
]
TYPES = [*itertools.product([np.int8, np.uint8], repeat=2)]


def integers(random, shape, dtype):
    """Return all numbers of a type."""
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def cases():
    """Return a case of each shape and pair of types."""
    for number, (shapes, (left, right)) in enumerate(itertools.product(SHAPES, TYPES)):
        random = np.random.default_rng(number)
        names = ("a", "b", "a_zero_point", "b_zero_point")
        inputs = {
            name: integers(random, shape, dtype)
            for name, shape, dtype in zip(names, shapes, [left, right] * 2, strict=True)
        }
        yield Case(f"{shapes[:2]} {left.__name__} {right.__name__} {shapes[2:]}", inputs, {})


CASES = [*cases()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


def test_zero_points_of_later_columns():
    """Those of the first 64 columns need no sums of the same rows."""
    random = np.random.default_rng(0)
    shapes = {"a": (3, 7), "b": (7, 130), "a_zero_point": (1,), "b_zero_point": (130,)}
    inputs = {name: integers(random, shape, np.int8) for name, shape in shapes.items()}
    inputs["b_zero_point"][:64] = 0
    check_cpu_kernel(Case("later columns", inputs, {}))


def test_sums_wrap_around():
    """2^31 is too large for int32."""
    a, b = np.full((1, 33026), 255, np.uint8), np.full((33026, 2), 255, np.uint8)
    zero = np.zeros(1, np.uint8)
    inputs = {"a": a, "b": b, "a_zero_point": zero, "b_zero_point": zero}
    assert reference(inputs, {})["y"].tolist() == [[33026 * 255**2 - 2**32] * 2]
    check_cpu_kernel(Case("overflow", inputs, {}))


def product(a, b, a_zero, b_zero):
    """Return the reference's product."""
    arrays = np.uint8(a), np.int8(b), np.uint8(a_zero), np.int8(b_zero)
    names = ("a", "b", "a_zero_point", "b_zero_point")
    return reference(dict(zip(names, arrays, strict=True)), {})["y"].tolist()


def test_reference():
    assert product([[1, 255], [3, 4]], [[2], [-128]], [0], [0]) == [[2 - 255 * 128], [6 - 512]]
    assert product([[11, 12], [3, 4]], [[2, 5], [1, 7]], [10, 1], [1, 5]) == [[1, 4], [2, 6]]


@pytest.mark.parametrize(
    ("shapes", "problem"),
    [
        ({"a": (3,)}, "a must be"),
        ({"b": (4, 5)}, "a must be"),
        ({"a_zero_point": (3,)}, "a_zero_point must be one number"),
        ({"b_zero_point": (1, 5)}, "b_zero_point one or"),
    ],
)
def test_invalid_shapes_are_refused(shapes, problem):
    valid = {"a": (2, 3), "b": (3, 5), "a_zero_point": (1,), "b_zero_point": (5,)}
    with pytest.raises(ValueError, match=problem):
        output_shapes({**valid, **shapes}, {})


@pytest.mark.parametrize(
    ("a", "problem"), [(np.int32, "must be int8 or uint8"), (np.uint8, "of the type of a")]
)
def test_other_types_are_refused(a, problem):
    zero, b = np.zeros(1, np.int8), np.ones((2, 2), np.int8)
    inputs = {"a": np.ones((2, 2), a), "b": b, "a_zero_point": zero, "b_zero_point": zero}
    with pytest.raises(ValueError, match=problem):
        reference(inputs, {})
