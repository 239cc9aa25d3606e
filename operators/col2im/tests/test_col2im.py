"""Test cases of Col2Im, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with col2im_reference.py.
"""

import numpy as np
import pytest
from col2im_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, special, uniform

GEOMETRIES = [  # blocks, params
    (20, {"image_shape": [5, 6], "block_shape": [2, 2]}),
    (4, {"image_shape": [9, 10], "block_shape": [8, 9]}),
    (9, {"image_shape": [7, 5], "block_shape": [3, 2], "strides": [2, 2], "pads": [0, 1, 0, 1]}),
    (15, {"image_shape": [6, 7], "block_shape": [2, 3], "dilations": [4, 2], "pads": [0, 1, 1, 1]}),
    (12, {"image_shape": [4, 4], "block_shape": [1, 2], "pads": [0, 3, 0, 0], "strides": [2, 1]}),
    (6, {"image_shape": [6], "block_shape": [3], "pads": [1, 1]}),
    (12, {"image_shape": [3, 4], "block_shape": [2, 1], "pads": [0, 1, 0, 1]}),  # blocks outside
    (70, {"image_shape": [4, 39], "block_shape": [3, 5]}),
    (33, {"image_shape": [41], "block_shape": [6], "dilations": [2], "pads": [1, 1]}),
    (24, {"image_shape": [3, 4, 5], "block_shape": [2, 2, 2]}),
    (2, {"image_shape": [2, 3, 3, 2], "block_shape": [2, 2, 3, 2]}),
]
CASES = [
    case
    for blocks, params in GEOMETRIES
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[{"input": (2, 3 * int(np.prod(params["block_shape"])), blocks)}],
        values=[uniform(-1, 1)],
        params=[params],
        dtype=dtype,
    )
]
SPECIAL = cases(
    shapes=[{"input": (1, 4, 9)}],
    values=[special()],
    params=[{"image_shape": [4, 4], "block_shape": [2, 2]}],
    dtype="float32",
)


# Both add float32 in the same order.
@pytest.mark.parametrize("case", CASES + SPECIAL, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


SETTINGS = {
    "image_shape": [3],
    "block_shape": [2],
    "dilations": [1],
    "pads": [0],
    "strides": [1],
}


def image(columns, **params):
    """Return the reference's image of one channel."""
    array = np.array([columns], np.float32)
    settings = {**SETTINGS, **params}
    output_shapes({"input": array.shape}, settings)
    return reference({"input": array}, settings)["output"][0, 0].tolist()


def test_reference():
    assert image([[1, 2], [3, 4]]) == [1, 5, 4]
    assert image([[1], [3]], dilations=[2]) == [1, 0, 3]
    assert image([[1, 2, 5], [3, 4, 7]], pads=[1, 0]) == [5, 9, 7]
    assert image([[1], [3]], strides=[2]) == [1, 3, 0]


@pytest.mark.parametrize(
    ("shape", "params", "problem"),
    [
        ((1, 2, 3), {}, "input must be"),
        ((1, 3, 2), {}, "input must be"),
        ((2, 2), {}, "input must be"),
        ((1, 2, 2), {"image_shape": []}, "the same count of items, 1 to 4"),
        ((1, 2, 2), {"block_shape": [2, 2]}, "the same count of items, 1 to 4"),
        ((1, 2, 2), {"strides": [1, 1]}, "must have an item for each dimension"),
        ((1, 2, 2), {"pads": [1, 1, 1]}, "and pads two"),
        ((1, 2, 2), {"dilations": [0]}, "must be above 0"),
        ((1, 2, 2), {"pads": [-1, 0]}, "pads not negative"),
        ((1, 2, 2), {"dilations": [3]}, "must fit into the image"),
    ],
)
def test_invalid_calls_are_refused(shape, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"input": shape}, {**SETTINGS, **params})


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference({"input": np.ones((1, 2, 2), np.int32)}, SETTINGS)
