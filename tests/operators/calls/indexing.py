"""Operators of indexing and sorting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from opkit.runtimes.invocation import Array
from tests.operators.calls.common import (
    EXACT,
    InvalidCall,
    NotApplicable,
    NoTensors,
    Random,
    Table,
    axes,
    floats,
    integers_as,
    shapes,
    zeros,
)
from tests.operators.oracle import Call


@st.composite
def hardmax_calls(draw: Any) -> Call:
    """Return numbers of which many are equal; no NaN: onnxruntime has its own way there."""
    few = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 2.0, np.inf])
    x = draw(hnp.arrays(np.float32, shapes(max_side=9), elements=few | floats(-1, 1)))
    return Call({"input": x}, {"axis": draw(axes(x.ndim))})


@st.composite
def cum_sum_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from([np.float32, np.int32, np.int64]))
    x = draw(hnp.arrays(dtype, shapes(max_side=9), elements=integers_as(dtype, 1000)))
    flags = {name: draw(st.integers(0, 1)) for name in ("exclusive", "reverse")}
    return Call({"x": x, "axis": np.array(draw(axes(x.ndim)))}, flags)


@st.composite
def top_k_calls(draw: Any) -> Call:
    """Return ties, infinities and, of floats, both zeros; without NaN, whose order is open."""
    dtype = draw(st.sampled_from([np.float32, np.int32, np.int64]))
    elements = st.integers(-3, 3).map(dtype)
    if dtype == np.float32:
        elements |= st.floats(width=32, allow_nan=False)
    x = draw(hnp.arrays(dtype, shapes(max_rank=3, max_side=20), elements=elements))
    axis = draw(axes(x.ndim))
    k = np.array([draw(st.integers(1, x.shape[axis]))])
    return Call({"X": x, "K": k}, {"axis": axis, "largest": draw(st.integers(0, 1))})


SMALL = (np.int8, np.uint8, np.int16, np.uint16, np.uint32)
"""Integers that PPLNN alone has."""


def changes(dtype: Any, reduction: str) -> st.SearchStrategy[Any]:
    """Return elements for reductions.

    Sums and products of whole numbers are exact; of NaN, onnxruntime keeps the first minimum.
    """
    if dtype != np.float32 or reduction in ("add", "mul"):
        return st.integers(0 if np.dtype(dtype).kind == "u" else -2, 2).map(dtype)
    return st.floats(width=32, allow_nan=reduction == "none")


@st.composite
def scatter_elements_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from([np.float32, np.int32, np.int64, *SMALL]))
    reduction = draw(st.sampled_from(["none", "add", "mul", "min", "max"]))
    elements = changes(dtype, reduction)
    data = draw(hnp.arrays(dtype, shapes(), elements=elements))
    axis = draw(axes(data.ndim))
    sides = [draw(st.integers(1, side)) for side in data.shape]
    length = data.shape[axis]
    if reduction != "none":
        sides[axis] = draw(st.integers(1, 2 * length))
    shape = tuple(sides)
    if reduction == "none":  # the order of updates of the same element is open
        rows = [side if i == axis % data.ndim else 1 for i, side in enumerate(shape)]
        unique = draw(st.permutations(range(length)))[: shape[axis]]
        indices = np.broadcast_to(np.array(unique).reshape(rows), shape).copy()
    else:
        indices = draw(hnp.arrays(np.int64, shape, elements=st.integers(-length, length - 1)))
    updates = draw(hnp.arrays(dtype, shape, elements=elements))
    inputs = {"data": data, "indices": indices, "updates": updates}
    return Call(inputs, {"axis": axis, "reduction": reduction})


@st.composite
def coordinates(draw: Any, lengths: Sequence[int], outer: Sequence[int]) -> Array:
    """Return indices [*outer, K]."""
    columns = [
        draw(hnp.arrays(np.int64, (*outer, 1), elements=st.integers(-length, length - 1)))
        for length in lengths
    ]
    return np.concatenate(columns, -1)


@st.composite
def scatter_nd_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from([np.float32, np.int32, np.int64, *SMALL]))
    reduction = draw(st.sampled_from(["none", "add", "mul", "min", "max"]))
    elements = changes(dtype, reduction)
    data = draw(hnp.arrays(dtype, shapes(), elements=elements))
    count = draw(st.integers(1, data.ndim))
    # The order of updates of the same element is open.
    outer = (1,) if reduction == "none" else draw(shapes(max_rank=2, max_side=4))
    indices = draw(coordinates(data.shape[:count], outer))
    updates = draw(hnp.arrays(dtype, (*outer, *data.shape[count:]), elements=elements))
    inputs = {"data": data, "indices": indices, "updates": updates}
    return Call(inputs, {"reduction": reduction})


@st.composite
def gather_nd_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from([np.float32, np.int32, np.int64, np.uint8, np.bool_]))
    elements = EXACT if np.dtype(dtype).kind == "i" else None
    data = draw(hnp.arrays(dtype, shapes(max_side=5), elements=elements))
    batch_dims = draw(st.integers(0, data.ndim - 1))
    count = draw(st.integers(1, data.ndim - batch_dims))
    outer = (*data.shape[:batch_dims], *draw(shapes(max_rank=2, max_side=4)))
    if len(outer) + data.ndim - batch_dims - count > 6:
        outer = outer[: batch_dims + 1]
    indices = draw(coordinates(data.shape[batch_dims : batch_dims + count], outer))
    return Call({"data": data, "indices": indices}, {"batch_dims": batch_dims})


@st.composite
def trilu_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from([np.float32, np.int64]))
    elements = EXACT if dtype == np.int64 else None
    x = draw(hnp.arrays(dtype, shapes(min_rank=2), elements=elements))
    k = draw(st.none() | st.integers(-9, 9))
    inputs = {"input": x} if k is None else {"input": x, "k": np.array(k)}
    return Call(inputs, {"upper": draw(st.integers(0, 1))})


@st.composite
def one_hot_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from([np.int64, np.int32, np.float32]))
    indices = draw(hnp.arrays(dtype, shapes(), elements=st.integers(-9, 9).map(dtype)))
    of_values = draw(st.sampled_from([np.float32, np.int64] if dtype == np.int64 else [np.float32]))
    elements = EXACT if of_values == np.int64 else None
    values = draw(hnp.arrays(of_values, (2,), elements=elements))
    depth = np.array([draw(st.integers(1, 9))], dtype)
    inputs = {"indices": indices, "depth": depth, "values": values}
    return Call(inputs, {"axis": draw(axes(indices.ndim + 1))})


@st.composite
def compress_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from([np.float32, np.int64, np.bool_]))
    elements = EXACT if dtype == np.int64 else None
    x = draw(hnp.arrays(dtype, shapes(), elements=elements))
    axis = draw(st.none() | axes(x.ndim))
    length = x.size if axis is None else x.shape[axis]
    condition = draw(hnp.arrays(np.bool_, (draw(st.integers(1, length)),)))
    condition[draw(st.integers(0, len(condition) - 1))] = True  # runtimes have no empty tensors
    inputs = {"input": x, "condition": condition}
    return Call(inputs, {} if axis is None else {"axis": axis})


@st.composite
def non_max_suppression_calls(draw: Any) -> Call:
    """Return boxes with equal scores, equal boxes, and quotients at the threshold."""
    images, classes, count = (draw(st.integers(1, limit)) for limit in (2, 3, 40))
    eighths = st.integers(-8, 8).map(lambda each: each / 8)
    boxes = draw(hnp.arrays(np.float32, (images, count, 4), elements=eighths | floats(-1, 1)))
    scores = draw(hnp.arrays(np.float32, (images, classes, count), elements=eighths))
    inputs = {
        "boxes": boxes,
        "scores": scores,
        "max_output_boxes_per_class": np.array([draw(st.integers(1, 50))]),
    }
    for name, elements in (("iou_threshold", (0, 0.25, 0.5, 1)), ("score_threshold", (-2, 0.25))):
        if each := draw(st.none() | st.sampled_from(elements)):
            inputs[name] = np.array([each], np.float32)
    return Call(inputs, {"center_point_box": draw(st.integers(0, 1))})


@st.composite
def tensor_scatter_calls(draw: Any) -> Call:
    """Return caches with updates; integers are exact as floats."""
    shape = draw(shapes(min_rank=2, max_side=5))
    axis = draw(st.integers(1, len(shape) - 1))
    count = draw(st.integers(1, shape[axis]))
    dtype = draw(st.sampled_from([np.float32, np.int32, np.int64]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    update = (*shape[:axis], count, *shape[axis + 1 :])
    is_circular = draw(st.booleans())
    inputs = {
        "past_cache": random.integers(-900, 900, shape).astype(dtype),
        "update": random.integers(-900, 900, update).astype(dtype),
    }
    if draw(st.booleans()):
        most = 3 * shape[axis] if is_circular else shape[axis] - count
        inputs["write_indices"] = random.integers(0, most, shape[0], endpoint=True)
    attributes = {"axis": axis - draw(st.sampled_from([0, len(shape)]))}
    return Call(inputs, attributes | ({"mode": "circular"} if is_circular else {}))


RANDOM = {
    "Hardmax": Random(hardmax_calls(), [13], count=80),
    "CumSum": Random(cum_sum_calls(), [11, 14], count=80),
    "TopK": Random(top_k_calls(), [11, 24], count=150),
    "ScatterElements": Random(scatter_elements_calls(), [18], count=150),
    "ScatterND": Random(scatter_nd_calls(), [18], count=150),
    "TensorScatter": Random(tensor_scatter_calls(), [24], count=100),
    "GatherND": Random(gather_nd_calls(), [12, 13], count=100),
    "Trilu": Random(trilu_calls(), [14]),
    "OneHot": Random(one_hot_calls(), [11], count=80),
    "Compress": Random(compress_calls(), [9, 11], count=80),
    "NonMaxSuppression": Random(non_max_suppression_calls(), [10, 11], count=150),
}

UPDATED = {"data": zeros(3), "updates": zeros(1)}
SCORES = {"scores": zeros(1, 1, 5)}
INDEX = np.dtype(np.int64)
BEST = {"selected_indices": ((1, 3), INDEX), "count": ((1,), INDEX)}
TOP = {"values": (2, 1), "indices": ((2, 1), INDEX)}

CACHE = {"past_cache": zeros(2, 4, 5), "update": zeros(2, 2, 5)}

INVALID = [
    *(
        InvalidCall(
            "TensorScatter",
            {**CACHE, "write_indices": np.array([0, 2]), **changes},
            params,
            {"present_cache": (2, 4, 5)},
            problem,
        )
        for changes, params, problem in [
            ({}, {"axis": 0}, "axis must be a dimension of past_cache"),
            ({}, {"axis": 3}, "axis must be a dimension of past_cache"),
            ({}, {"axis": 2}, "update must have the shape of past_cache"),
            ({"update": zeros(2, 5, 5)}, {}, "update must have the shape of past_cache"),
            ({"update": zeros(1, 2, 5)}, {}, "update must have the shape of past_cache"),
            ({"update": zeros(2, 2, 5, 1)}, {}, "update must have the shape of past_cache"),
            ({"write_indices": np.array([0, 3])}, {}, "updates must end within the cache"),
            ({"write_indices": np.array([0, -1])}, {"mode": "circular"}, "must not be negative"),
            ({"write_indices": np.array([0])}, {}, "write_indices must be"),
        ]
    ),
    *(
        InvalidCall(op_type, inputs | {"indices": indices + index}, {}, {"output": size}, problem)
        for op_type, inputs, indices, size, problem in [
            ("ScatterElements", UPDATED, zeros(1, dtype=np.int64), (3,), "within the axis"),
            ("ScatterND", UPDATED, zeros(1, 1, dtype=np.int64), (3,), "within data"),
            ("GatherND", {"data": zeros(3)}, zeros(1, 1, dtype=np.int64), (1,), "within data"),
        ]
        for index in (3, -4, 2**20)
    ),
    *(
        InvalidCall("NonMaxSuppression", SCORES | {"boxes": boxes}, params, BEST, problem)
        for boxes, params, problem in [
            (zeros(1, 5, 3), {"max_output_boxes_per_class": 1}, "boxes must be"),
            (zeros(1, 4, 4), {"max_output_boxes_per_class": 1}, "scores must be"),
            (zeros(1, 5, 4), {"max_output_boxes_per_class": 0}, "must be 1 or more"),
            (
                zeros(1, 5, 4),
                {"max_output_boxes_per_class": 1, "iou_threshold": 1.5},
                "iou_threshold must be 0 to 1",
            ),
        ]
    ),
    InvalidCall(
        "Trilu", {"input": zeros(3)}, {}, {"output": (3,)}, "must have 2 or more dimensions"
    ),
    InvalidCall(
        "Trilu", {"input": zeros(3, 3)}, {"upper": 2}, {"output": (3, 3)}, "must be 0 or 1"
    ),
    *(
        InvalidCall(
            "OneHot", {"indices": zeros(3), "values": values}, params, {"output": (3, 1)}, problem
        )
        for values, params, problem in [
            (zeros(2), {"depth": 0}, "depth must be 1 or more"),
            (zeros(2), {"depth": 1, "axis": 2}, "axis must be a dimension of output"),
            (zeros(3), {"depth": 1}, "values must have 2 elements: off and on"),
        ]
    ),
    *(
        InvalidCall("Compress", {"input": zeros(2, 3)}, params, {"output": (2, 1)}, problem)
        for params, problem in [
            ({"condition": [1], "axis": 2}, "axis must be a dimension of input"),
            ({"condition": [1, 0, 1], "axis": 0}, "condition must not be longer than the axis"),
            ({"condition": [0, 0]}, "condition must select a slice"),
        ]
    ),
    InvalidCall(
        "Hardmax",
        {"input": zeros(2, 3)},
        {"axis": -3},
        {"output": (2, 3)},
        "axis must be from -rank",
    ),
    *(
        InvalidCall("TopK", {"x": zeros(2, 3)}, params, TOP, problem)
        for params, problem in [
            ({"k": 0}, "k must be 1 or more"),
            ({"k": 4}, "at most the length of the axis"),
            ({"k": 1, "axis": 2}, "axis must be a dimension of x"),
            ({"k": 1, "largest": 2}, "largest must be 0 or 1"),
            ({"k": 1, "sorted": 2}, "sorted must be 0 or 1"),
        ]
    ),
]

NOT_APPLICABLE: dict[str, NotApplicable] = {
    r"test_onehot_with_bfloat16_values": NoTensors("is bfloat16"),
    r"test_compress_bfloat16": NoTensors("is bfloat16"),
    r"test_top_k_uint64": NoTensors("input 'x' is uint64"),
}

TABLE = Table(
    RANDOM,
    {
        "CumSum": 7,
        "GatherND": 3,
        "Hardmax": 7,
        "ScatterElements": 7,
        "ScatterND": 7,
        "Compress": 4,
        "NonMaxSuppression": 9,
        "OneHot": 5,
        "TopK": 6,
        "TensorScatter": 3,
        "Trilu": 18,
    },
    NOT_APPLICABLE,
    INVALID,
)
