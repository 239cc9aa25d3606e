"""Test cases of ResizeArea, for every CPU kernel: shapes x values x params.

`scons check` runs each case on the kernels and compares with resizearea_reference.py.
"""

import numpy as np
import pytest
import resizearea_reference

from opkit.testing import cases, check_cpu_kernel, special, uniform, vary_params

SIZES = vary_params(
    {"size": [3, 10], "align_corners": False},
    size=[[1, 1], [4, 4]],  # 4x4: also shapes that match both layouts
)
SIZES += [{"size": [7, 2], "align_corners": True}]
NHWC = cases(
    shapes=[
        {"input": (1, 1, 1, 1)},
        {"input": (1, 6, 5, 3)},
        {"input": (2, 13, 7, 1)},
        {"input": (1, 4, 9, 4)},
        {"input": (1, 9, 12, 17)},
    ],
    values=[uniform(-1, 1), special()],
    params=SIZES,
    dtype="float16",
)
CORNERS = cases(  # two pixels: one step between corners
    shapes=[{"input": (1, 2, 2, 3)}],
    values=[uniform(-1, 1)],
    params=[{"size": [7, 3], "align_corners": True}],
    dtype="float16",
)
NCHW = cases(
    shapes=[{"input": (1, 3, 6, 5)}, {"input": (2, 1, 13, 7)}, {"input": (1, 4, 9, 4)}],
    values=[uniform(-100, 100)],
    params=SIZES,
    dtype="float16",
)
LARGE = cases(  # rows and pixels of more floats than a tile
    shapes=[{"input": (1, 3, 400, 2)}, {"input": (2, 3, 2, 1100)}],
    values=[uniform(-1, 1)],
    params=[
        {"size": [2, 300], "align_corners": False},
        {"size": [5, 1], "align_corners": True},
    ],
    dtype="float16",
)
WHOLE_NUMBERS = cases(
    shapes=[{"input": (1, 3, 4, 5)}],
    values=[uniform(-1, 1), special()],
    params=[
        {"size": [3, 4], "align_corners": False},  # the input's size
        {"size": [6, 16], "align_corners": False},  # repeats each pixel 2 x 4 times
    ],
    dtype="float16",
)


@pytest.mark.parametrize("case", NHWC + CORNERS, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


@pytest.mark.parametrize("case", LARGE, ids=str)
def test_cpu_kernel_with_tiles(case):
    check_cpu_kernel(case, max_ulp=1)


@pytest.mark.parametrize("case", NCHW, ids=str)
def test_cpu_kernel_channels_first(case, monkeypatch):
    monkeypatch.setattr(resizearea_reference, "LAYOUT", "NCHW")
    check_cpu_kernel(case, max_ulp=1, changes_reference=True)


@pytest.mark.parametrize("case", WHOLE_NUMBERS, ids=str)
def test_copied_pixels_are_unchanged(case):
    check_cpu_kernel(case, max_ulp=0)


def resize(image, size, align_corners=False):
    """Return the reference's result for one image of one channel."""
    images = np.array(image, np.float32)[np.newaxis, :, :, np.newaxis]
    params = {"size": size, "align_corners": align_corners}
    return resizearea_reference.reference({"input": images}, params)["output"][0, :, :, 0].tolist()


def test_reference_whole_pixel_mean():
    image = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]
    assert resize(image, [2, 2]) == [[2.5, 4.5], [10.5, 12.5]]


def test_reference_weights_pixels_by_coverage():
    # Each output covers one pixel and a half: (1 + 4 / 2) / 1.5 and (4 / 2 + 7) / 1.5.
    assert resize([[1, 4, 7]], [1, 2]) == [[2, 6]]


def test_reference_align_corners_repeats_border():
    # Steps of (3 - 1) / (2 - 1) = 2 pixels: (1 + 4) / 2, and (7 + 7) / 2 past the end.
    assert resize([[1, 4, 7]], [1, 2], align_corners=True) == [[2.5, 7]]


def test_integers_are_refused():
    images, params = np.ones((1, 2, 2, 1), np.int32), {"size": [1, 1], "align_corners": False}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        resizearea_reference.reference({"input": images}, params)


def test_reference_supports_both_layouts(monkeypatch):
    shapes, params = {"input": (2, 5, 6, 7)}, {"size": [3, 4], "align_corners": False}
    assert resizearea_reference.output_shapes(shapes, params) == {"output": (2, 3, 4, 7)}
    monkeypatch.setattr(resizearea_reference, "LAYOUT", "NCHW")
    assert resizearea_reference.output_shapes(shapes, params) == {"output": (2, 5, 3, 4)}
