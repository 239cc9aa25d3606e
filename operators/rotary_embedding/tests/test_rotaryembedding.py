"""Test cases of RotaryEmbedding, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with rotaryembedding_reference.py.
"""

import numpy as np
import pytest
from rotaryembedding_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, integers, special, uniform

LAYOUTS = [  # x, features that are rotated, params
    ((2, 4, 3, 8), 8, {}),
    ((2, 3, 32), 8, {"num_heads": 4}),
    ((1, 2, 5, 38), 38, {"interleaved": 1}),
    ((2, 5, 3, 80), 64, {"rotary_embedding_dim": 64}),
    ((2, 5, 21), 4, {"num_heads": 3, "rotary_embedding_dim": 4, "interleaved": 1}),
    ((1, 1, 1, 2), 2, {"num_heads": 1}),
]


def layouts(values, rows, dtype):
    """Return cases with caches of some rows, or of a row for each position."""
    return [
        case
        for x, rotated, params in LAYOUTS
        for cache in [(rows, rotated // 2) if rows else (x[0], x[-2], rotated // 2)]
        for case in cases(
            shapes=[
                {"x": x, "cos_cache": cache, "sin_cache": cache, "position_ids": (x[0], x[-2])}
            ],
            values=[
                {
                    "x": values,
                    "cos_cache": uniform(-1, 1),
                    "sin_cache": uniform(-1, 1),
                    "position_ids": integers(0, max(rows - 1, 0)),
                }
            ],
            params=[params],
            dtype={**dict.fromkeys(("x", "cos_cache", "sin_cache", "y"), dtype), **IDS},
        )
    ]


IDS = {"position_ids": "int64"}
CASES = [
    case
    for dtype in ("float32", "float16")
    for rows in (0, 50)
    for case in layouts(uniform(-1, 1), rows, dtype)
]
SPECIAL = layouts(special(), 7, "float32")


# The kernel rounds both products, of numbers up to 1, to float32, and the terms may cancel.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=1e-7)


# Of the largest floats the products are up to 3e38, so that a smaller sum is not exact.
@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_special_values(case):
    check_cpu_kernel(case, max_ulp=1, max_error=1e31)


def rotated(x, cosines, sines, ids, **params):
    """Return the reference's output of a single position."""
    tensors = {
        "x": np.array(x, np.float32).reshape(1, 1, -1),
        "cos_cache": np.array(cosines, np.float32),
        "sin_cache": np.array(sines, np.float32),
        "position_ids": np.array([[ids]]),
    }
    settings = {"interleaved": 0, "num_heads": 1, "rotary_embedding_dim": 0, **params}
    output_shapes({name: array.shape for name, array in tensors.items()}, settings)
    return reference(tensors, settings)["y"].ravel().tolist()


COSINES, SINES = [[9, 9], [2, 3]], [[9, 9], [1, -1]]


def test_reference():
    assert rotated([1, 2, 10, 20], COSINES, SINES, 1) == [-8, 26, 21, 58]
    assert rotated([1, 2, 10, 20], COSINES, SINES, 1, interleaved=1) == [0, 5, 50, 50]
    assert rotated([1, 2, 10, 20], [[[2, 3]]], [[[1, -1]]], 0) == [-8, 26, 21, 58]
    assert rotated([1, 10, 2], [[2]], [[1]], 0, rotary_embedding_dim=2) == [-8, 21, 2]
    assert rotated([1, 10, 2, 20], [[2]], [[1]], 0, num_heads=2) == [-8, 21, -16, 42]


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({"x": (6, 16)}, {}, "x must be"),
        ({"x": (2, 3, 16)}, {}, "num_heads must be above 0"),
        ({"x": (2, 3, 16)}, {"num_heads": 3}, "and divide the last dimension of x"),
        ({}, {"num_heads": 3}, "must be 0 or that of x, 4"),
        ({}, {"rotary_embedding_dim": 3}, "must be even"),
        ({}, {"rotary_embedding_dim": 10}, "from 0 to the size of a head, 8"),
        ({}, {"rotary_embedding_dim": -2}, "from 0 to the size of a head, 8"),
        ({"x": (2, 4, 3, 7)}, {}, "not 0 if that is odd"),
        ({"cos_cache": (50, 8)}, {}, "cos_cache must be"),
        ({"cos_cache": (2, 1, 4)}, {}, "cos_cache must be"),
        ({"sin_cache": (49, 4)}, {}, "sin_cache must have the shape of cos_cache"),
        ({"position_ids": (1, 3)}, {}, "position_ids must be"),
    ],
)
def test_invalid_calls_are_refused(shapes, params, problem):
    valid = {
        "x": (2, 4, 3, 8),
        "cos_cache": (50, 4),
        "sin_cache": (50, 4),
        "position_ids": (2, 3),
    }
    settings = {"interleaved": 0, "num_heads": 0, "rotary_embedding_dim": 0}
    with pytest.raises(ValueError, match=problem):
        output_shapes({**valid, **shapes}, {**settings, **params})


@pytest.mark.parametrize("ids", [-1, 2])
def test_ids_out_of_range_are_refused(ids):
    with pytest.raises(ValueError, match="must be rows of the caches, from 0 to 1"):
        rotated([1, 2, 10, 20], COSINES, SINES, ids)
    with pytest.raises(ValueError, match="must be 0 with caches of 3 dimensions"):
        rotated([1, 2], [[[2]]], [[[1]]], ids)


def test_invalid_values_are_refused():
    with pytest.raises(ValueError, match="interleaved must be 0 or 1"):
        rotated([1, 2, 10, 20], COSINES, SINES, 1, interleaved=2)
    tensors = dict.fromkeys(("x", "cos_cache", "sin_cache", "position_ids"), np.ones(1, int))
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, {})
