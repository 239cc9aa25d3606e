"""Test cases of DetectionOutput, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with detectionoutput_reference.py.
"""

import numpy as np
import pytest
from detectionoutput_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, integers, special, uniform, vary_params

SETTINGS = {"iou_threshold": 0.5, "score_threshold": 0.25, "max_output_boxes": 20}
NAMES = ("boxes", "scores", "anchors")
DTYPES = {
    dtype: {
        **dict.fromkeys((*NAMES, "detection_boxes", "detection_scores"), dtype),
        **dict.fromkeys(("num_detections", "detection_classes"), "int32"),
    }
    for dtype in ("float16", "float32")
}


def shapes_of(images, boxes, classes, anchors=None):
    """Return the shapes of all inputs; `anchors` is the number of images that have some."""
    return {
        "boxes": (images, boxes, 4),
        "scores": (images, boxes, classes),
        "anchors": (anchors, boxes, 4) if anchors else (1,),
    }


VALUES = dict.fromkeys(NAMES, uniform(0, 1))
CORNERS = [
    case
    for dtypes in DTYPES.values()
    for case in cases(
        shapes=[shapes_of(2, 60, 3)],
        values=[VALUES],
        params=vary_params(
            SETTINGS,
            background_class=[1, 7],
            class_agnostic=[1],
            iou_threshold=[0.0, 0.3, 1.0],
            max_output_boxes=[1, 300],
            box_coding=[1],
            score_threshold=[-1.0, 2.0],
            score_activation=[],
            plugin_version=["2"],
        ),
        dtype=dtypes,
    )
]
# In float32 alone: halves are so coarse that the last bit of an exponential may count.
ANCHORS = [
    case
    for anchors in (1, 2)
    for case in cases(
        shapes=[shapes_of(2, 40, 2, anchors)],
        values=[{"boxes": uniform(-1, 1), "scores": uniform(-4, 4), "anchors": uniform(0, 1)}],
        params=[
            {**SETTINGS, "box_coding": coding, "score_activation": 1, "score_threshold": threshold}
            for coding in (0, 1)
            for threshold in (0.75, 0.0)
        ],
        dtype=DTYPES["float32"],
    )
]
# Boxes of few sizes: equal ones, and quotients at the threshold; equal scores.
TIES = cases(
    shapes=[shapes_of(1, 45, 2), shapes_of(1, 45, 2, 1)],
    values=[dict.fromkeys(NAMES, integers(-2, 3))],
    params=[
        {**SETTINGS, "iou_threshold": 0.5, "score_threshold": 0.0, "class_agnostic": is_agnostic}
        for is_agnostic in (0, 1)
    ],
    dtype=DTYPES["float32"],
)
SPECIAL = cases(
    shapes=[shapes_of(1, 20, 1)],
    values=[{**VALUES, "scores": special()}, {**VALUES, "boxes": uniform(1e30, 3e38)}],
    params=[SETTINGS],
    dtype=DTYPES["float32"],
)


# Both compute float32 in the same order.
@pytest.mark.parametrize("case", CORNERS + TIES + SPECIAL, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


# The exponential of a size and the sigmoid of a score are rounded otherwise.
@pytest.mark.parametrize("case", ANCHORS, ids=str)
def test_cpu_kernel_anchors(case):
    check_cpu_kernel(case, max_ulp=1, max_error=1e-6)


DEFAULTS = {
    "background_class": -1,
    "box_coding": 0,
    "class_agnostic": 0,
    "plugin_version": "1",
    "score_activation": 0,
}


def detected(boxes, scores, anchors=None, **params):
    """Return the reference's boxes, scores and classes of an image."""
    inputs = {
        "boxes": np.float32(boxes)[np.newaxis],
        "scores": np.float32(scores)[np.newaxis],
        "anchors": np.zeros(1, np.float32) if anchors is None else np.float32([anchors]),
    }
    settings = {**DEFAULTS, **SETTINGS, "max_output_boxes": 3, **params}
    found = [each[0].tolist() for each in reference(inputs, settings).values()]
    [count], *rows = found
    assert rows[0][count:] == [[0] * 4] * (3 - count)
    assert (rows[1][count:], rows[2][count:]) == ([0] * (3 - count), [-1] * (3 - count))
    return [each[:count] for each in rows]


BOXES = [[0, 0, 2, 2], [0, 0, 2, 1], [5, 5, 6, 6]]


def test_reference_selects_the_best():
    scores = [[0.5, 0.1], [0.6, 0.7], [0.25, 0.2]]
    assert detected(BOXES, scores)[2] == [1, 0, 0]
    assert detected(BOXES, scores)[0] == [BOXES[1], BOXES[1], BOXES[2]]
    assert detected(BOXES, scores, class_agnostic=1)[1] == pytest.approx([0.7, 0.25])
    assert detected(BOXES, scores, iou_threshold=0.6)[2] == [1, 0, 0]
    assert detected(BOXES, scores, iou_threshold=0.6)[0][2] == BOXES[0]
    assert detected(BOXES, scores, background_class=0)[2] == [1]
    assert detected(BOXES, scores, max_output_boxes=3, score_threshold=0.65)[2] == [1]


def test_reference_scores():
    scores = [[0.0], [-9.0], [np.nan]]
    assert detected(BOXES, scores, score_activation=1)[1:] == [[0.5], [0]]
    assert detected(BOXES, scores, score_threshold=-1.0)[1] == [0]
    assert len(detected(BOXES, scores, score_threshold=0.0, score_activation=1)[2]) == 1
    assert detected(BOXES, scores, score_threshold=1.5, score_activation=1)[2] == []


def test_reference_forms_of_boxes():
    """The anchor from 2 to 6 and 10 to 12 is moved by a half of its size, and twice as large."""
    expected = [[2, 9, 10, 13]]
    change = [0.5, 0.0, np.log(2), np.log(2)]
    assert detected([[6, 11, 8, 4]], [[1]], box_coding=1)[0] == expected
    assert detected([change], [[1]], [[4, 11, 4, 2]], box_coding=1)[0] == [
        pytest.approx(each) for each in expected
    ]
    assert detected([[0, 1, 4, -1]], [[1]], [[6, 10, 2, 12]])[0] == expected


@pytest.mark.parametrize(
    ("shapes", "problem"),
    [
        ({"boxes": (1, 5, 3)}, "boxes must be"),
        ({"boxes": (5, 4)}, "boxes must be"),
        ({"scores": (2, 5, 3)}, "scores must be"),
        ({"scores": (1, 4, 3)}, "scores must be"),
        ({"scores": (1, 5)}, "scores must be"),
        ({"anchors": (2,)}, "anchors must be"),
        ({"anchors": (2, 5, 4)}, "anchors must be"),
        ({"anchors": (1, 4, 4)}, "anchors must be"),
    ],
)
def test_invalid_shapes_are_refused(shapes, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**shapes_of(1, 5, 3), **shapes}, {**DEFAULTS, **SETTINGS})


def test_integers_are_refused():
    tensors = {name: np.ones(shape, np.int32) for name, shape in shapes_of(1, 5, 3).items()}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, SETTINGS)
