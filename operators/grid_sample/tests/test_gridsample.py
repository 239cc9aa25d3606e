"""Test cases of GridSample, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with gridsample_reference.py.
"""

import numpy as np
import pytest
from gridsample_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, ramp, special, uniform, vary_params

MODES = ("linear", "cubic", "nearest")
PADDINGS = ("zeros", "border", "reflection")
METHODS = [
    {"mode": mode, "padding_mode": padding, "align_corners": align_corners}
    for mode in MODES
    for padding in PADDINGS
    for align_corners in (0, 1)
]
# Locations up to one and a half images beyond each edge.
ALL_METHODS = cases(
    shapes=[{"x": (2, 5, 4, 7), "grid": (2, 9, 11, 2)}],
    values=[{"x": uniform(-1, 1), "grid": uniform(-4, 4)}],
    params=METHODS,
    dtype="float32",
)
VOLUMES = cases(
    shapes=[
        {"x": (2, 3, 3, 4, 7), "grid": (2, 3, 2, 5, 3)},
        {"x": (1, 2, 1, 1, 1), "grid": (1, 1, 2, 3, 3)},
        {"x": (1, 1, 5, 2, 1), "grid": (1, 300, 2, 3, 3)},  # more than a block
    ],
    values=[{"x": uniform(-1, 1), "grid": uniform(-2, 2)}],
    params=[method for method in METHODS if method["mode"] != "cubic"],
    dtype="float32",
)
SHAPES = cases(
    shapes=[
        {"x": (1, 1, 1, 1), "grid": (1, 1, 3, 2)},  # a single pixel
        {"x": (3, 8, 6, 5), "grid": (3, 1, 1, 2)},  # a single location
        {"x": (1, 6, 1, 9), "grid": (1, 300, 4, 2)},  # a row
    ],
    values=[{"x": uniform(-1, 1), "grid": uniform(-1.5, 1.5)}],
    params=vary_params(mode=["bicubic"], padding_mode=["border", "reflection"], align_corners=[1]),
    dtype="float16",
)
NEAREST = cases(
    shapes=[{"x": (2, 5, 4, 7), "grid": (2, 9, 11, 2)}],
    values=[
        {"x": special(), "grid": uniform(-2, 2)},
        {"x": ramp(), "grid": special()},
    ],
    params=[{"mode": "nearest", "padding_mode": padding} for padding in PADDINGS],
    dtype="float16",
)
# Infinity and NaN; locations between their pixels, on them and beside them.
NOT_FINITE = np.ones((1, 4, 3, 4), np.float32)
NOT_FINITE[0, 0, 1, 1], NOT_FINITE[0, 1, 0, 0], NOT_FINITE[0, 2, 2, 3] = np.inf, -np.inf, np.nan
EVERYWHERE = np.stack(np.meshgrid(np.linspace(-2, 2, 17), np.linspace(-2, 2, 13)), -1)
FAR = np.array([[np.nan, 0], [np.inf, 0], [0, -np.inf], [3e38, 0], [-2e9, 1e9], [1e6, -1e6]])
# Infinity times cubic weights of both signs is infinity or NaN: the kernel adds the weights of a
# pixel that padding repeats, the reference the products.
SPECIAL = [
    Case(
        f"{name}-{method['mode']}-{method['padding_mode']}-{method['align_corners']}",
        {"x": NOT_FINITE, "grid": grid.reshape(1, -1, 1, 2).astype(np.float32)},
        method,
    )
    for name, grid in (("not-finite", EVERYWHERE), ("far", FAR))
    for method in METHODS
    if method["align_corners"] == (method["padding_mode"] == "border")
    if name == "far" or method["mode"] != "cubic" or method["padding_mode"] == "zeros"
]


# The kernel rounds 16 weights, their products and 15 sums to float32, the reference only its sum.
# Pixels are at most 1, and cubic weights 1.9 in all: each rounding is 1.9 * 2^-24 at most.
SUM = 2e-6


@pytest.mark.parametrize("case", ALL_METHODS + VOLUMES + SPECIAL, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_error=0 if case.params["mode"] == "nearest" else SUM)


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_cpu_kernel_halves(case):
    check_cpu_kernel(case, max_ulp=1, max_error=SUM)


@pytest.mark.parametrize("case", NEAREST, ids=str)
def test_cpu_kernel_copies_pixels(case):
    check_cpu_kernel(case, max_ulp=0)


def sample(positions, pixels=(10.0, 20.0, 30.0, 40.0), **params):
    """Return the reference's values at positions along a row of pixels."""
    row = np.array(pixels, np.float32).reshape(1, 1, 1, -1)
    grid = np.zeros((1, 1, len(positions), 2), np.float32)
    grid[..., 0] = positions
    settings = {"mode": "linear", "padding_mode": "zeros", "align_corners": 0, **params}
    return reference({"x": row, "grid": grid}, settings)["y"].ravel().tolist()


def test_reference_locations():
    assert sample([-1, -0.75, 0, 0.75, 1]) == [5, 10, 25, 40, 20]
    assert sample([-1, -1 / 3, 0, 1], align_corners=1) == pytest.approx([10, 20, 25, 40])


def test_reference_padding():
    beyond = [-1.25, 1.25, -1.75, 4.5]  # pixels -1, 4, -2 and 10.5
    assert sample(beyond) == [0, 0, 0, 0]
    assert sample(beyond, padding_mode="border") == [10, 40, 10, 40]
    assert sample(beyond, padding_mode="reflection") == [10, 40, 20, 35]
    ends = [-1 - 2 / 3, 1 + 2 / 3, 5]  # pixels -1, 4 and 9
    mirrored = sample(ends, padding_mode="reflection", align_corners=1)
    assert mirrored == pytest.approx([20, 30, 40])


def test_reference_nearest_rounds_ties_to_even():
    ties = [-1, -0.5, 0, 0.5, 1]  # pixels -0.5, 0.5, 1.5, 2.5 and 3.5
    assert sample(ties, mode="nearest") == [10, 10, 30, 30, 0]
    assert sample(ties, mode="nearest", padding_mode="border") == [10, 10, 30, 30, 40]


def test_reference_cubic():
    # Keys' kernel with -0.75 at 1/2: -3/32, 19/32, 19/32, -3/32.
    assert sample([0], mode="cubic") == [25]
    assert sample([0], [0, 0, 32, 0], mode="bicubic") == [19]
    assert sample([0], [32, 0, 0, 0], mode="bicubic") == [-3]


def test_reference_slices():
    volume = np.array([[1.0, 3.0], [5.0, 9.0]], np.float32).reshape(1, 1, 2, 1, 2)
    grid = np.array([[0, 0, -0.5], [-0.5, 0, 0], [0.5, 0, 0.5]], np.float32).reshape(1, 1, 1, 3, 3)
    settings = {"mode": "linear", "padding_mode": "zeros", "align_corners": 0}
    found = reference({"x": volume, "grid": grid}, settings)["y"]
    assert found.shape == (1, 1, 1, 1, 3)
    assert found.ravel().tolist() == [2, 3, 9]


def test_reference_single_pixel():
    for padding in ("border", "reflection"):
        for align_corners in (0, 1):
            assert sample([-3, 0, 0.9], [7], padding_mode=padding, align_corners=align_corners) == [
                *(7, 7, 7)
            ]


@pytest.mark.parametrize(
    ("x", "grid", "params", "problem"),
    [
        ((1, 2, 3), (1, 3, 2), {}, "must have 4 dimensions, or 5"),
        ((1, 2, 3, 4, 5), (1, 3, 4, 2), {}, "must have 4 dimensions, or 5"),
        ((1, 2, 3, 4, 5), (1, 3, 4, 5, 2), {}, "with the N of x"),
        ((1, 2, 3, 4, 5), (1, 3, 4, 5, 3), {"mode": "cubic"}, "linear or nearest for x of 5"),
        ((1, 2, 3, 4), (2, 3, 4, 2), {}, "with the N of x"),
        ((1, 2, 3, 4), (1, 3, 4, 3), {}, "with the N of x"),
        ((1, 2, 0, 4), (1, 3, 4, 2), {}, "must have 1 to 2.32 - 1 pixels"),
        ((1, 2, 3, 4), (1, 3, 4, 2), {"mode": "lanczos"}, "not 'lanczos'"),
        ((1, 2, 3, 4), (1, 3, 4, 2), {"padding_mode": "wrap"}, "not 'wrap'"),
        ((1, 2, 3, 4), (1, 3, 4, 2), {"align_corners": 2}, "must be 0 or 1, not 2"),
    ],
)
def test_invalid_calls_are_refused(x, grid, params, problem):
    settings = {"mode": "linear", "padding_mode": "zeros", "align_corners": 0, **params}
    with pytest.raises(ValueError, match=problem):
        output_shapes({"x": x, "grid": grid}, settings)


def test_integers_are_refused():
    tensors = {"x": np.ones((1, 1, 2, 2), np.int32), "grid": np.zeros((1, 1, 1, 2), np.float32)}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, {})
