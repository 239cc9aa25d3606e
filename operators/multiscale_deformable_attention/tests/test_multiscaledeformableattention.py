"""Test cases of MultiscaleDeformableAttention, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with the reference in numpy.
"""

import numpy as np
import pytest
from multiscaledeformableattention_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform

THREE_LEVELS = {
    "value_spatial_shapes": [6, 7, 3, 4, 1, 2],
    "value_level_start_index": [0, 42, 54],
}


def shapes_of(keys, queries=5, heads=2, channels=8, levels=3, points=4, images=1):
    """Return the shapes of all inputs."""
    weights = (images, queries, heads, levels, points)
    return {
        "value": (images, keys, heads, channels),
        "sampling_locations": (*weights, 2),
        "attention_weights": weights,
    }


GEOMETRIES = [  # shapes, params
    (shapes_of(56, channels=32, images=2), THREE_LEVELS),
    (shapes_of(56, channels=45, heads=3), THREE_LEVELS),  # vectors, and single channels
    (shapes_of(56, channels=1, points=1), THREE_LEVELS),
    (
        shapes_of(9, levels=1, points=100, channels=16),  # more pixels than a list has
        {"value_spatial_shapes": [3, 2], "value_level_start_index": [3]},
    ),
    (
        shapes_of(3, levels=8, points=2),  # maps of one row or column, which overlap
        {
            "value_spatial_shapes": [1, 3, 3, 1, 1, 1, 1, 2] * 2,
            "value_level_start_index": [0, 0, 2, 1, 0, 0, 1, 0],
            "im2col_step": 1,
        },
    ),
]
LOCATIONS = [uniform(0, 1), uniform(-0.5, 1.5), uniform(-100, 100)]
CASES = [
    case
    for shapes, params in GEOMETRIES
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[shapes],
        values=[
            {
                "value": uniform(-1, 1),
                "sampling_locations": locations,
                "attention_weights": uniform(0, 0.1),
            }
            for locations in LOCATIONS
        ],
        params=[params],
        dtype=dtype,
    )
]
SPECIAL = [
    case
    for name in ("value", "sampling_locations", "attention_weights")
    for case in cases(
        shapes=[shapes_of(56)],
        values=[
            {
                "value": uniform(-1, 1),
                "sampling_locations": uniform(-0.2, 1.2),
                "attention_weights": uniform(0, 1),
                name: special(),
            }
        ],
        params=[THREE_LEVELS],
        dtype="float32",
    )
]


# Sums of up to 400 products of numbers up to 0.1; the kernel rounds each, and each sum, to float32.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=4e-6)


# The same with numbers up to 1e38: the largest one of each sum counts.
@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_cpu_kernel_special(case):
    check_cpu_kernel(case, max_ulp=8, max_error=4e-6)


def attention(pixels, locations, weights=None, shape=None):
    """Return the reference's output of one head and one channel: a query for each location."""
    count = len(locations)
    tensors = {
        "value": np.array(pixels, np.float32).reshape(1, -1, 1, 1),
        "sampling_locations": np.array(locations, np.float32).reshape(1, count, 1, 1, 1, 2),
        "attention_weights": np.array(weights or [1] * count, np.float32).reshape(
            1, count, 1, 1, 1
        ),
    }
    params = {
        "value_spatial_shapes": list(shape or np.shape(pixels)),
        "value_level_start_index": [0],
        "im2col_step": 64,
    }
    return reference(tensors, params)["output"][0, :, 0].tolist()


def test_reference_interpolates():
    pixels = [[1, 2, 3, 4], [5, 6, 7, 8]]  # centers at eighths of the width, quarters of the height
    assert attention(pixels, [(1 / 8, 1 / 4), (7 / 8, 3 / 4), (1 / 2, 1 / 2)]) == [1, 8, 4.5]
    assert attention(pixels, [(1 / 4, 1 / 4), (1 / 8, 1 / 2)], weights=[1, 10]) == [1.5, 30]


def test_reference_is_zero_outside():
    assert attention([[4]], [(0, 0.5), (0, 0), (1, 1), (2, 0.5), (0.5, -9)]) == [2, 1, 1, 0, 0]
    assert attention([[np.inf]], [(2, 0.5), (np.inf, 0.5), (0.5, -np.inf)]) == [0, 0, 0]
    assert np.isnan(attention([[4]], [(np.nan, 0.5), (9, np.nan)])).all()


def test_reference_levels():
    shapes = shapes_of(5, queries=1, heads=1, channels=1, levels=2, points=1)
    tensors = {name: np.full(shape, 0.5, np.float32) for name, shape in shapes.items()}
    tensors["value"][0, :, 0, 0] = [0, 8, 16, 100, 7]
    params = {"value_spatial_shapes": [1, 1, 3, 1], "value_level_start_index": [3, 0]}
    assert reference(tensors, {**params, "im2col_step": 64})["output"].item() == 50 + 4


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({"value": (1, 56, 16)}, {}, "value must be"),
        ({"value": (1, 55, 2, 8)}, {}, "the pixels of all levels"),
        ({"value": (1, 56, 3, 8)}, {}, "attention_weights must be"),
        ({"attention_weights": (1, 5, 2, 2, 4)}, {}, "attention_weights must be"),
        ({"sampling_locations": (1, 5, 2, 3, 4)}, {}, "sampling_locations must be"),
        ({"sampling_locations": (1, 5, 2, 3, 4, 3)}, {}, "sampling_locations must be"),
        ({}, {"value_spatial_shapes": [6, 7]}, "must have 2 items for each"),
        ({}, {"value_spatial_shapes": [6, 7, 3, 4, 1, 0]}, "must be above 0"),
        ({}, {"value_level_start_index": [0, 42, -1]}, "not negative"),
        ({}, {"im2col_step": 0}, "im2col_step must be above 0"),
    ],
)
def test_invalid_calls_are_refused(shapes, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**shapes_of(56), **shapes}, {"im2col_step": 64, **THREE_LEVELS, **params})


def test_integers_are_refused():
    tensors = {name: np.ones(shape, np.int32) for name, shape in shapes_of(56).items()}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, {"im2col_step": 64, **THREE_LEVELS})
