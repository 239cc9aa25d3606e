"""Test cases of NonMaxSuppression, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with nonmaxsuppression_reference.py.
"""

import numpy as np
import pytest
from nonmaxsuppression_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, integers, special, uniform, vary_params

DTYPES = {
    dtype: {"boxes": dtype, "scores": dtype, "selected_indices": "int64", "count": "int64"}
    for dtype in ("float16", "float32")
}
CASES = [
    case
    for dtype, dtypes in DTYPES.items()
    for case in cases(
        shapes=[{"boxes": (2, 60, 4), "scores": (2, 3, 60)}],
        values=[{"boxes": uniform(0, 1), "scores": uniform(0, 1)}],
        params=vary_params(
            {"max_output_boxes_per_class": 40},
            max_output_boxes_per_class=[1, 5, 100],
            iou_threshold=[0.3, 1.0],
            score_threshold=[0.5, 2.0],
            center_point_box=[1],
        ),
        dtype=dtypes,
    )
]
# Boxes of few sizes: equal ones, and quotients at the threshold; equal scores.
TIES = cases(
    shapes=[{"boxes": (1, 90, 4), "scores": (1, 2, 90)}],
    values=[{"boxes": integers(-2, 3), "scores": integers(-2, 2)}],
    params=[
        {"max_output_boxes_per_class": 50, "iou_threshold": 0.5, "center_point_box": is_center}
        for is_center in (0, 1)
    ],
    dtype=DTYPES["float32"],
)
SPECIAL = cases(
    shapes=[{"boxes": (1, 20, 4), "scores": (1, 1, 20)}],
    values=[
        {"boxes": uniform(0, 1), "scores": special()},
        {"boxes": uniform(1e30, 3e38), "scores": uniform(0, 1)},
    ],
    params=[{"max_output_boxes_per_class": 20}],
    dtype=DTYPES["float32"],
)


# Both compute float32 in the same order.
@pytest.mark.parametrize("case", CASES + TIES + SPECIAL, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case)


SETTINGS = {
    "max_output_boxes_per_class": 3,
    "iou_threshold": 0.5,
    "score_threshold": 0.0,
    "center_point_box": 0,
}


def select(boxes, scores, **params):
    """Return the reference's boxes of a class."""
    tensors = {
        "boxes": np.array([boxes], np.float32),
        "scores": np.array([[scores]], np.float32),
    }
    found = reference(tensors, {**SETTINGS, **params})
    rows, [count] = found["selected_indices"], found["count"]
    assert np.all(rows[:count, :2] == 0)
    assert np.all(rows[count:] == -1)
    return rows[:count, 2].tolist()


BOXES = [[0, 0, 2, 2], [0, 0, 2, 1], [5, 5, 6, 6], [2, 2, 0, 0]]


def test_reference_selects_the_best():
    assert select(BOXES, [1, 2, 3, 4]) == [3, 2, 1]
    assert select(BOXES, [1, 2, 3, 4], max_output_boxes_per_class=2) == [3, 2]
    assert select(BOXES, [1, 2, 3, 4], score_threshold=2) == [3, 2]
    assert select(BOXES, [1, 2, 3, 4], iou_threshold=0.4) == [3, 2]


def test_reference_ties_and_nan():
    assert select(BOXES, [1, 1, 1, 1]) == [0, 1, 2]
    assert select(BOXES, [np.nan, 0, np.nan, 1]) == [3]


def test_reference_centers():
    same = [[1, 1, 2, 2], [0, 0, 2, 2]]
    assert select(same, [1, 2], center_point_box=1, iou_threshold=0.1) == [1]
    assert select(same, [1, 2], center_point_box=1, iou_threshold=0.2) == [1, 0]


@pytest.mark.parametrize(
    ("boxes", "scores", "params", "problem"),
    [
        ((1, 5, 3), (1, 2, 5), {}, "boxes must be"),
        ((1, 5, 4), (2, 2, 5), {}, "scores must be"),
        ((1, 5, 4), (1, 2, 4), {}, "scores must be"),
        ((1, 5, 4), (1, 2, 5), {"max_output_boxes_per_class": 0}, "must be 1 or more, not 0"),
        ((1, 5, 4), (1, 2, 5), {"iou_threshold": 1.5}, "must be 0 to 1, not 1.5"),
        ((1, 5, 4), (1, 2, 5), {"center_point_box": 2}, "must be 0 or 1, not 2"),
    ],
)
def test_invalid_calls_are_refused(boxes, scores, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({"boxes": boxes, "scores": scores}, {**SETTINGS, **params})


def test_integers_are_refused():
    tensors = {"boxes": np.ones((1, 2, 4), np.int32), "scores": np.ones((1, 1, 2), np.float32)}
    with pytest.raises(ValueError, match="must be float16 or float32"):
        reference(tensors, SETTINGS)
