"""Test cases of RoiAlign, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with roialign_reference.py.
"""

import numpy as np
import pytest
from roialign_reference import MAX_SAMPLES, output_shapes, reference

from opkit.testing import Case, check_cpu_kernel

PARAMS = {
    "coordinate_transformation_mode": "half_pixel",
    "mode": "avg",
    "output_height": 1,
    "output_width": 1,
    "sampling_ratio": 0,
    "spatial_scale": 1.0,
}
REGIONS = [  # x1, y1, x2, y2 of images of 9 x 7 pixels
    [0, 0, 9, 7],
    [1.5, 2.25, 4, 6.5],
    [3, 3, 3.25, 3.25],  # in a pixel
    [-4, -3, 5, 4],  # partly outside
    [6, 5, 30, 20],
    [-9, -9, -5, -5],
    [5, 5, 2, 1],  # of negative size
    [1e6, 0, 3e7, 7],
]
METHODS = [
    {"mode": mode, "sampling_ratio": ratio, "coordinate_transformation_mode": transformation}
    for mode in ("avg", "max")
    for ratio in (0, 1, 3)
    for transformation in ("half_pixel", "output_half_pixel")
]


def case_of(name, shape, rois, params, dtype="float32"):
    """Return a case with random images, which take turns."""
    x = np.random.default_rng(1).uniform(-1, 1, shape).astype(dtype)
    regions = np.array(rois).astype(dtype)
    indices = np.arange(len(regions), dtype=np.int64) % shape[0]
    return Case(name, {"x": x, "rois": regions, "batch_indices": indices}, params)


CASES = [
    case_of("-".join(map(str, method.values())), (2, 3, 7, 9), REGIONS, {**size, **method})
    for method in METHODS
    for size in [{"output_height": 3, "output_width": 2}]
]
SHAPES = [
    case_of(f"{height}x{width}-{mode}", (1, 2, height, width), rois, {**size, "mode": mode}, dtype)
    for mode in ("avg", "max")
    for height, width, dtype in [(1, 1, "float32"), (5, 3, "float16"), (4, 40, "float16")]
    for rois in [[[0, 0, 8, 6], [4, 2, 9, 30], [0.5, 0.5, 70, 9]]]
    for size in [{"output_height": 2, "output_width": 5, "spatial_scale": 0.5}]
]
NOT_FINITE = [
    case_of(f"not finite-{ratio}", (1, 1, 4, 4), rois, {"sampling_ratio": ratio})
    for ratio in (0, 2)
    for rois in [[[np.nan, 0, 2, 2], [0, 0, np.inf, 2], [0, -np.inf, 2, 2], [0, 0, 3e38, 3]]]
]


# The kernel rounds products and sums of up to 81 samples to float32; pixels are at most 1.
@pytest.mark.parametrize("case", CASES + SHAPES + NOT_FINITE, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=2e-6)


@pytest.mark.parametrize("mode", ["avg", "max"])
def test_cpu_kernel_keeps_nan_to_its_samples(mode):
    case = case_of("nan", (1, 1, 8, 8), [[2, 2, 6, 6], [0, 0, 8, 4]], {"mode": mode})
    case.inputs["x"][0, 0, 7, 7] = np.nan
    case.inputs["x"][0, 0, 0, 4] = np.inf
    check_cpu_kernel(case, max_ulp=1, max_error=2e-6)


def aligned(roi, pixels, **params):
    """Return the reference's row for a region of a row of pixels."""
    x = np.array(pixels, np.float32).reshape(1, 1, 1, -1)
    tensors = {
        "x": x,
        "rois": np.array([[roi[0], 0, roi[1], 1]], np.float32),
        "batch_indices": np.zeros(1, np.int64),
    }
    return reference(tensors, {**PARAMS, **params})["y"].ravel().tolist()


def test_reference_avg():
    assert aligned((0, 4), [1, 2, 3, 6]) == [3]
    assert aligned((0, 4), [1, 2, 3, 6], output_width=2) == [1.5, 4.5]
    assert aligned((0.5, 1.5), [1, 2, 3, 6]) == [1.5]
    assert aligned((2, 6), [1, 2, 3, 6], spatial_scale=0.5) == [2.5]
    assert aligned((2, 6), [1, 2, 3, 6], sampling_ratio=1) == [6]
    assert aligned((2, 8), [1, 2, 3, 6], sampling_ratio=2) == [3]  # the second one is outside


def test_reference_max_is_that_of_products():
    assert aligned((0.5, 1.5), [1, 2, 3, 6], mode="max") == [1]
    assert aligned((0, 4), [-1, -2, -3, -6], mode="max") == [0]  # neighbors of weight 0


def test_reference_output_half_pixel():
    settings = {"coordinate_transformation_mode": "output_half_pixel"}
    assert aligned((0.5, 1.5), [1, 2, 3, 6], **settings) == [2]
    assert aligned((1, 1), [1, 2, 3, 6], **settings) == [2.5]  # at least one pixel


def test_samples_are_limited():
    assert aligned((-1e9, 1e9), [1, 2, 3, 6]) == [0]
    assert MAX_SAMPLES < 1e9


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({"x": (2, 3, 5)}, {}, "x must be"),
        ({"x": (2, 3, 0, 5)}, {}, "x must be"),
        ({"rois": (4, 5)}, {}, "rois must be"),
        ({"batch_indices": (3,)}, {}, "rois must be"),
        ({}, {"mode": "min"}, "mode must be avg or max, not 'min'"),
        ({}, {"coordinate_transformation_mode": "half"}, "not 'half'"),
        ({}, {"output_width": 0}, "must be above 0"),
        ({}, {"sampling_ratio": -1}, "sampling_ratio not negative"),
    ],
)
def test_invalid_calls_are_refused(shapes, params, problem):
    valid = {"x": (2, 3, 5, 6), "rois": (4, 4), "batch_indices": (4,)}
    with pytest.raises(ValueError, match=problem):
        output_shapes({**valid, **shapes}, {**PARAMS, **params})


@pytest.mark.parametrize("index", [-1, 1])
def test_other_images_are_refused(index):
    tensors = {
        "x": np.ones((1, 1, 2, 2), np.float32),
        "rois": np.ones((1, 4), np.float32),
        "batch_indices": np.array([index]),
    }
    with pytest.raises(ValueError, match="batch_indices must be from 0 to N - 1"):
        reference(tensors, PARAMS)
