"""Test cases of LpPool, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with lppool_reference.py.
"""

import numpy as np
import pytest
from lppool_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, uniform

CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[{"x": (2, 3, 8, 9)}],
        values=[uniform(-1, 1)],
        params=[
            {"kernel_shape": [3, 2], **params}
            for params in [
                {},
                {"p": 1, "strides": [2, 3]},
                {"p": 3, "strides": [2]},
                {"p": 10, "dilations": [2, 1]},
                {"pads": [1, 0, 2, 1]},
                {"auto_pad": "VALID", "pads": [1]},
                {"auto_pad": "SAME_UPPER", "strides": [1, 2]},
                {"auto_pad": "SAME_LOWER", "strides": [1, 2]},
                {"auto_pad": "SAME_UPPER", "strides": [8, 5]},  # windows begin inside of the image
                {"auto_pad": "SAME_LOWER", "strides": [8, 5]},
            ]
        ],
        dtype=dtype,
    )
]
DIMENSIONS = [
    case
    for shape in [(2, 2, 1200), (1, 2, 5, 6), (1, 1, 5, 4, 6)]
    for case in cases(
        shapes=[{"x": shape}],
        values=[uniform(-1, 1)],
        params=[
            {"kernel_shape": [3] * (len(shape) - 2), **params}
            for params in [{}, {"strides": [2], "ceil_mode": 1}, {"dilations": [2], "pads": [1]}]
        ],
        dtype="float32",
    )
]
# The last window would begin behind the image, but not behind its pads.
CEILED = cases(
    shapes=[{"x": (1, 2, 8)}],
    values=[uniform(-1, 1)],
    params=[{"kernel_shape": [1], "strides": [3], "pads": [0, 1], "ceil_mode": 1}],
    dtype="float32",
)
EXTREMES = [
    Case(str(element), {"x": np.array([[[1, element, 0, 2, 3, 1]]], np.float32)}, {**params})
    for element in (np.inf, -np.inf, np.nan, 3e38, 1e-38)
    for params in [{"kernel_shape": [2]}, {"kernel_shape": [3], "p": 3, "pads": [2]}]
]


# Both add double, in the same order; roots other than square roots differ in double's last bit.
@pytest.mark.parametrize("case", CASES + DIMENSIONS + CEILED + EXTREMES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


DEFAULTS = {
    "kernel_shape": [2],
    "p": 2,
    "strides": [1],
    "dilations": [1],
    "pads": [0],
    "auto_pad": "NOTSET",
    "ceil_mode": 0,
}


def pooled(x, **params):
    """Return the norms of an image of one dimension."""
    array = np.array([[x]], np.float32)
    return reference({"x": array}, {**DEFAULTS, **params})["y"][0, 0].tolist()


def test_reference():
    assert pooled([3, -4, 0, 5]) == [5, 4, 5]
    assert pooled([3, -4, 0, 5], p=1) == [7, 4, 5]
    assert pooled([3, -4, 0, 5], strides=[2]) == [5, 5]
    assert pooled([3, -4, 0, 5], dilations=[3]) == pytest.approx([34**0.5])
    assert pooled([3, -4], pads=[1, 2]) == [3, 5, 4, 0]
    assert pooled([3, -4], auto_pad="SAME_UPPER") == [5, 4]
    assert pooled([3, -4], auto_pad="SAME_LOWER") == [3, 5]
    image = [1, 2, 3, 4, 5]
    assert pooled(image, kernel_shape=[1], strides=[5], auto_pad="SAME_UPPER") == [3]
    assert pooled(image, kernel_shape=[1], strides=[5], auto_pad="SAME_LOWER") == [2]
    assert pooled([3, -4], auto_pad="VALID", pads=[1]) == [5]
    assert pooled([3, -4, 1], strides=[2]) == [5]
    assert pooled([3, -4, 1], strides=[2], ceil_mode=1) == [5, 1]
    # The last window would begin behind the image.
    assert pooled([3, -4], strides=[3], pads=[0, 1], kernel_shape=[1], ceil_mode=1) == [3]


@pytest.mark.parametrize(
    ("shape", "params", "problem"),
    [
        ((2, 3), {}, "with 1 to 3 dimensions behind C"),
        ((1, 1, 2, 2, 2, 2), {}, "with 1 to 3 dimensions behind C"),
        ((1, 1, 4), {"kernel_shape": [2, 2]}, "must have an item for each dimension"),
        ((1, 1, 4), {"strides": [2, 2]}, "must have an item for each dimension"),
        ((1, 1, 4), {"pads": [1, 1, 1]}, "must have an item for each dimension"),
        ((1, 1, 4), {"dilations": [0]}, "must be above 0, and pads not negative"),
        ((1, 1, 4), {"pads": [-1]}, "must be above 0, and pads not negative"),
        ((1, 1, 4), {"kernel_shape": [5]}, "a window must fit into the image with its pads"),
        ((1, 1, 4), {"auto_pad": "SAME"}, "auto_pad must be NOTSET, VALID, SAME_UPPER or S"),
        ((1, 1, 4), {"ceil_mode": 2}, "ceil_mode must be 0 or 1"),
        ((1, 1, 4), {"p": 0}, "p must be 1 or more"),
    ],
)
def test_invalid_calls_are_refused(shape, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"x": shape}, {**DEFAULTS, **params})


def test_integers_are_refused():
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference({"x": np.ones((1, 1, 4), np.int32)}, DEFAULTS)
