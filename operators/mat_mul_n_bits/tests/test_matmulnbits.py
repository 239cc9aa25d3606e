"""Test cases of MatMulNBits, for every kernel: shapes x bits x block sizes x kinds of zero points.

`scons check` runs each case on the CPU kernel and compares with matmulnbits_reference.py.
"""

import numpy as np
import pytest
from matmulnbits_reference import output_shapes, reference

from opkit.testing import Case, check_cpu_kernel

GEOMETRIES = [  # a, N, bits, block_size
    ((1, 32), 1, 4, 16),
    ((3, 70), 9, 4, 32),  # the last block is filled up, and zero points have a half of a byte
    ((2, 1, 64), 6, 8, 64),
    ((5, 130), 7, 8, 16),
    ((2, 3, 1100), 5, 4, 128),  # more terms than are unpacked at a time
    ((4, 600), 3, 8, 256),
    ((7, 5), 4, 4, 16),  # less than a vector
]


def arrays(shape, columns, bits, block_size, dtype, zeros):
    """Return inputs, with numbers and zero points of all values."""
    random = np.random.default_rng([*shape, columns, bits])
    blocks = -(-shape[-1] // block_size)
    return {
        "a": random.uniform(-1, 1, shape).astype(dtype),
        "b": random.integers(0, 256, (columns, blocks, block_size * bits // 8), np.uint8),
        "scales": random.uniform(-0.1, 0.1, (columns, blocks)).astype(dtype),
        "zero_points": random.integers(0, 256, (columns, -(-blocks * bits // 8)), np.uint8)
        if zeros == "packed"
        else random.uniform(0, 2**bits, (columns, blocks)).astype(dtype),
    }


def params_of(shape, columns, bits, block_size, accuracy_level=0):
    """Return the params of a case."""
    return {
        "K": shape[-1],
        "N": columns,
        "bits": bits,
        "block_size": block_size,
        "accuracy_level": accuracy_level,
    }


CASES = [
    Case(
        f"{geometry} {dtype} {zeros}",
        arrays(*geometry, dtype, zeros),
        params_of(*geometry, accuracy_level=number % 5),
    )
    for number, geometry in enumerate(GEOMETRIES)
    for dtype, zeros in (("float32", "packed"), ("float32", "floats"), ("float16", "packed"))
]


# Sums of up to 1,100 products of numbers up to 1 and 26: each is rounded to float32 a few times.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=1e-4)


def product(a, b, scales, zeros, **params):
    """Return the reference's products with columns of one block."""
    arrays = {
        "a": np.float32(a),
        "b": np.uint8(b),
        "scales": np.float32(scales),
        "zero_points": np.asarray(zeros),
    }
    return reference(arrays, {**params_of(arrays["a"].shape, len(b), 4, 16), **params})[
        "y"
    ].tolist()


def test_reference_unpacks_the_low_bits_first():
    b = [[[0x21, 0x43, *[0] * 6]]]
    assert product([[1, 10, 100, 1000]], b, [[1]], np.uint8([[0]])) == [[4321]]
    assert product([[1, 10, 100, 1000]], b, [[2]], np.uint8([[1]])) == [[2 * 3210]]
    assert product([[1, 10, 100, 1000]], b, [[2]], np.float32([[0.5]])) == [[2 * 3765.5]]


def test_reference_has_zero_points_of_blocks():
    b = [[[0x11] * 8] * 3]
    zeros = np.uint8([[0x21, 0xF3]])  # 1, 2, 3
    a = np.arange(40) // 16 == np.arange(3)[:, None]  # the terms of each block
    assert product(a, b, [[1, 10, 100]], zeros) == [[0], [-160], [-1600]]


def test_reference_of_8_bits():
    b, zeros = [[[200, 7, *[0] * 14]]], np.uint8([[100]])
    assert product([[1, 10]], b, [[0.5]], zeros, bits=8) == [[50 - 465]]


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({"a": (3, 31)}, {}, "a must be"),
        ({"b": (5, 2, 4)}, {}, "b must be"),
        ({"scales": (5, 1)}, {}, "scales must be"),
        ({}, {"N": 0}, "above 0"),
        ({}, {"K": -1}, "above 0"),
    ],
)
def test_invalid_shapes_are_refused(shapes, params, problem):
    valid = {"a": (3, 32), "b": (5, 2, 8), "scales": (5, 2), "zero_points": (5, 1)}
    settings = {**params_of((3, 32), 5, 4, 16), **params}
    with pytest.raises(ValueError, match=problem):
        output_shapes({**valid, **shapes}, settings)


@pytest.mark.parametrize(
    ("name", "array", "problem"),
    [
        ("a", np.ones((3, 32), np.int32), "a, scales and y must be"),
        ("b", np.ones((5, 2, 8), np.int8), "b must be uint8"),
        ("zero_points", np.ones((5, 1), np.int32), "and zero_points uint8"),
        ("zero_points", np.ones((5, 2), np.uint8), "packed as b"),
        ("zero_points", np.ones((5, 1), np.float32), "packed as b"),
    ],
)
def test_other_arrays_are_refused(name, array, problem):
    given = arrays((3, 32), 5, 4, 16, "float32", "packed")
    with pytest.raises(ValueError, match=problem):
        reference({**given, name: array}, params_of((3, 32), 5, 4, 16))
