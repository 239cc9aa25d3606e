"""Test cases of DecodeBoxes, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with decodeboxes_reference.py.
"""

import numpy as np
import pytest
from decodeboxes_reference import output_shapes, reference

from opkit.testing import Case, cases, check_cpu_kernel, special, uniform, vary_params

# Omitted params have the defaults of op.yml.
PARAMS = vary_params(
    {"image_size": [300, 320]},
    image_size=[[640, 480]],
    min_size=[16],
    max_log_scale=[1.5],
    area_scale=[1 / 1024],
)
CASES = cases(
    shapes=[
        {"deltas": (1, 1, 4), "anchors": (1, 4)},
        {"deltas": (3, 10, 4), "anchors": (10, 4)},
        {"deltas": (2, 2, 5, 4), "anchors": (5, 4)},
    ],
    values=[{"deltas": uniform(-1, 1), "anchors": uniform(0, 300)}, special()],
    params=PARAMS,
    dtype="float16",
)


def detection_head(seed, params):
    """Return a realistic case: anchors all over the image, and one large delta in ten."""
    random = np.random.default_rng(seed)
    corners, sizes = random.uniform(-20, 300, (137, 2)), random.uniform(4, 250, (137, 2))
    deltas = random.normal(0, 0.2, (2, 137, 4))
    deltas[:, ::10] *= 20
    inputs = {"deltas": deltas, "anchors": np.concatenate([corners, corners + sizes], axis=1)}
    halves = {name: array.astype(np.float16) for name, array in inputs.items()}
    return Case(f"detection-head-{seed}", halves, params)


CASES += [detection_head(seed, params) for seed, params in enumerate(PARAMS)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1)


def decode(anchor, delta, **params):
    """Return the reference's box and area for one anchor."""
    inputs = {"deltas": np.float32([[delta]]), "anchors": np.float32([anchor])}
    settings = {
        "image_size": [300, 320],
        "clip": True,
        "offset": 0,
        "min_size": 0,
        "max_log_scale": 4.1,
        "area_scale": 1.0,
        **params,
    }
    outputs = reference(inputs, settings)
    return outputs["boxes"][0, 0].tolist(), outputs["areas"][0, 0].tolist()


# 20 pixels high and 40 wide, centered at (20, 40).
ANCHOR = [10, 20, 30, 60]


def test_reference_zero_deltas_keep_anchor():
    assert decode(ANCHOR, [0, 0, 0, 0]) == (ANCHOR, 800)


def test_reference_moves_and_scales():
    # Center: (20 + 20 / 2, 40 - 40 / 4) = (30, 30); twice as high: 40 x 40.
    box, area = decode(ANCHOR, [0.5, -0.25, np.log(2), 0])
    assert box == pytest.approx([10, 10, 50, 50])
    assert area == pytest.approx(1600)


def test_reference_growth_is_clamped():
    box, area = decode(ANCHOR, [0, 0, 100, 100], clip=False, max_log_scale=0)
    assert (box, area) == (ANCHOR, 800)


def test_reference_clips_to_image():
    assert decode(ANCHOR, [0, 0, 0, 0], image_size=[25, 50]) == ([10, 20, 25, 50], 450)
    assert decode(ANCHOR, [0, 0, 0, 0], image_size=[25, 50], clip=False) == (ANCHOR, 800)
    assert decode(ANCHOR, [-1, -1, 0, 0]) == ([0, 0, 10, 20], 200)


def test_reference_offset_1_includes_last_pixel():
    assert decode([10, 20, 29, 59], [0, 0, 0, 0], offset=1) == ([10, 20, 29, 59], 800)
    box, area = decode([10, 20, 29, 59], [0, 0, 0, 0], offset=1, image_size=[25, 50])
    assert (box, area) == ([10, 20, 24, 49], 450)


def test_reference_small_boxes_have_zero_area():
    assert decode(ANCHOR, [0, 0, 0, 0], min_size=20) == (ANCHOR, 800)
    assert decode(ANCHOR, [0, 0, 0, 0], min_size=21) == (ANCHOR, 0)


def test_reference_scales_areas():
    assert decode(ANCHOR, [0, 0, 0, 0], area_scale=0.25) == (ANCHOR, 200)


@pytest.mark.parametrize(
    ("deltas", "anchors"),
    [((1, 5, 4), (6, 4)), ((1, 5, 3), (5, 3)), ((5, 4), (5, 4)), ((1, 5, 4), (1, 5, 4))],
)
def test_mismatched_shapes_are_refused(deltas, anchors):
    with pytest.raises(ValueError, match="must be deltas"):
        output_shapes({"deltas": deltas, "anchors": anchors}, {})


def test_integers_are_refused():
    integers = {"deltas": np.ones((1, 1, 4), np.int32), "anchors": np.ones((1, 4), np.int32)}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(integers, {})
