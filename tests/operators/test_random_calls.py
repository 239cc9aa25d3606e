"""Random calls of the library's operators of ONNX: reference and CPU kernels against onnxruntime.

Each operator's tolerance stands beside its calls, with the reason.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from opkit.check.cases import Case
from opkit.runtimes.invocation import Array
from tests.operators.oracle import (
    Built,
    Call,
    assert_all_close,
    run_by_onnx,
    run_by_onnxruntime,
)
from tests.operators.test_node_tests import OPERATORS

pytestmark = pytest.mark.slow

Library = Callable[[str], Built]


@dataclass(frozen=True)
class Random:
    """Random calls of an operator.

    Attributes:
        calls: the strategy.
        opsets: the opsets of the models.
        rtol: the relative tolerance.
        atol: the absolute one.
        count: the number of calls.
    """

    calls: st.SearchStrategy[Call]
    opsets: Sequence[int]
    rtol: float = 0.0
    atol: float = 0.0
    count: int = 60


def floats(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, width=32, allow_subnormal=False)


def shapes(min_rank: int = 1, max_rank: int = 4, max_side: int = 7) -> st.SearchStrategy[Any]:
    return hnp.array_shapes(min_dims=min_rank, max_dims=max_rank, max_side=max_side)


def integers_as(dtype: Any, limit: int) -> st.SearchStrategy[Any]:
    """Return whole numbers in a dtype: also sums of floats are exact."""
    return st.integers(-limit, limit - 1).map(dtype)


def axes(rank: int) -> st.SearchStrategy[int]:
    return st.integers(-rank, rank - 1)


def in_opset(call: Call, op_type: str, opset: int) -> Call:
    """Return a call with the words of an opset."""
    if op_type != "GridSample" or opset >= 20:
        return call
    words = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}
    mode = call.attributes["mode"]
    return Call(call.inputs, {**call.attributes, "mode": words[mode]})


# ---- The operators -------------------------------------------------------------------------------


@st.composite
def grid_sample_calls(draw: Any) -> Call:
    """Return ties, edges, and locations far outside."""
    count, channels, height, width, rows, columns = (
        draw(st.integers(1, limit)) for limit in (2, 6, 6, 6, 4, 5)
    )
    align_corners = draw(st.integers(0, 1))
    padding = draw(st.sampled_from(["zeros", "border", "reflection"]))
    if align_corners and padding == "reflection":  # onnxruntime divides by 0 for a single pixel
        height, width = max(height, 2), max(width, 2)
    positions = st.one_of(
        st.integers(-24, 24).map(lambda eighths: eighths / 8),
        floats(-1.5, 1.5),
        floats(-100, 100),
    )
    x = draw(hnp.arrays(np.float32, (count, channels, height, width), elements=floats(-1, 1)))
    grid = draw(hnp.arrays(np.float32, (count, rows, columns, 2), elements=positions))
    mode = draw(st.sampled_from(["linear", "cubic", "nearest"]))
    return Call(
        {"X": x, "grid": grid},
        {"mode": mode, "padding_mode": padding, "align_corners": align_corners},
    )


@st.composite
def selu_calls(draw: Any) -> Call:
    eighths = st.none() | st.integers(-32, 32).map(lambda each: each / 8)
    attributes = {"alpha": draw(eighths), "gamma": draw(eighths)}
    x = draw(hnp.arrays(np.float32, shapes(max_side=9), elements=floats(-30, 30)))
    return Call({"X": x}, {key: each for key, each in attributes.items() if each is not None})


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


def changes(dtype: Any, reduction: str) -> st.SearchStrategy[Any]:
    """Return elements for reductions.

    Sums and products of whole numbers are exact; of NaN, onnxruntime keeps the first minimum.
    """
    if dtype != np.float32 or reduction in ("add", "mul"):
        return st.integers(-2, 2).map(dtype)
    return st.floats(width=32, allow_nan=reduction == "none")


@st.composite
def scatter_elements_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from([np.float32, np.int32, np.int64]))
    reduction = draw(st.sampled_from(["none", "add", "mul", "min", "max"]))
    elements = changes(dtype, reduction)
    data = draw(hnp.arrays(dtype, shapes(), elements=elements))
    axis = draw(axes(data.ndim))
    shape = tuple(draw(st.integers(1, side)) for side in data.shape)
    length = data.shape[axis]
    if reduction == "none":  # the order of updates of the same element is open
        rows = [side if i == axis % data.ndim else 1 for i, side in enumerate(shape)]
        unique = draw(st.permutations(range(length)))[: shape[axis]]
        indices = np.broadcast_to(np.array(unique).reshape(rows), shape).copy()
    else:
        indices = draw(hnp.arrays(np.int64, shape, elements=st.integers(-length, length - 1)))
    updates = draw(hnp.arrays(dtype, shape, elements=elements))
    inputs = {"data": data, "indices": indices, "updates": updates}
    return Call(inputs, {"axis": axis, "reduction": reduction})


EXACT = st.integers(-(2**24), 2**24)
"""Integers that librknnrt 1.6.0 passes unchanged: as float32."""


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
    dtype = draw(st.sampled_from([np.float32, np.int32, np.int64]))
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
    values = draw(hnp.arrays(np.float32, (2,)))
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
def col2im_calls(draw: Any) -> Call:
    """Return images of 2 dimensions, as onnxruntime's blocks; whole numbers: sums are exact."""
    image, block, dilations, strides = (
        [draw(st.integers(1, limit)) for _ in range(2)] for limit in (7, 3, 2, 3)
    )
    pads = [draw(st.integers(0, 2)) for _ in range(4)]
    blocks = 1
    for i in range(2):
        extent = dilations[i] * (block[i] - 1) + 1
        image[i] = max(image[i], extent - pads[i] - pads[2 + i], 1)
        blocks *= (image[i] + pads[i] + pads[2 + i] - extent) // strides[i] + 1
    shape = draw(st.integers(1, 2)), draw(st.integers(1, 3)) * block[0] * block[1], blocks
    columns = draw(hnp.arrays(np.float32, shape, elements=integers_as(np.float32, 1000)))
    inputs = {
        "input": columns,
        "image_shape": np.array(image),
        "block_shape": np.array(block),
    }
    return Call(inputs, {"dilations": dilations, "pads": pads, "strides": strides})


@st.composite
def center_crop_pad_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from([np.float32, np.int64]))
    elements = EXACT if dtype == np.int64 else None
    x = draw(hnp.arrays(dtype, shapes(), elements=elements))
    every = draw(st.permutations(range(x.ndim)))
    chosen = every[: draw(st.integers(1, x.ndim))]
    axes_ = [axis - draw(st.sampled_from([0, x.ndim])) for axis in chosen]
    shape = np.array([draw(st.integers(1, 9)) for _ in axes_])
    return Call({"input_data": x, "shape": shape}, {"axes": axes_})


@st.composite
def det_calls(draw: Any) -> Call:
    side = draw(st.integers(1, 5))
    outer = draw(st.sampled_from([(), (1,), (3,), (2, 2)]))
    quarters = st.integers(-8, 8).map(lambda each: each / 4)
    return Call({"X": draw(hnp.arrays(np.float32, (*outer, side, side), elements=quarters))}, {})


CALLS = {
    # onnxruntime subtracts alpha from alpha * e^x: near 0, it loses digits.
    "Selu": Random(selu_calls(), [17, 22], 1e-6, 3e-6),
    "CumSum": Random(cum_sum_calls(), [11, 14], count=80),
    "TopK": Random(top_k_calls(), [11, 24], count=150),
    "ScatterElements": Random(scatter_elements_calls(), [18], count=150),
    "ScatterND": Random(scatter_nd_calls(), [18], count=150),
    "GatherND": Random(gather_nd_calls(), [12, 13], count=100),
    "Trilu": Random(trilu_calls(), [14]),
    "OneHot": Random(one_hot_calls(), [11], count=80),
    "Compress": Random(compress_calls(), [9, 11], count=80),
    "NonMaxSuppression": Random(non_max_suppression_calls(), [10, 11], count=150),
    "Col2Im": Random(col2im_calls(), [18], count=100),
    "CenterCropPad": Random(center_crop_pad_calls(), [18], count=80),
    # onnxruntime computes in float32: products of up to 5 elements of 2, of which many cancel.
    "Det": Random(det_calls(), [11, 22], rtol=1e-5, atol=1e-4, count=80),
    "GridSample": Random(grid_sample_calls(), [16, 20], atol=3e-6, count=150),
}


def test_every_operator_has_random_calls() -> None:
    assert {*CALLS} == {*OPERATORS}


@pytest.mark.parametrize("op_type", CALLS)
def test_like_onnxruntime(op_type: str, library_operator: Library) -> None:
    operator, random = library_operator(op_type), CALLS[op_type]

    @settings(
        max_examples=random.count, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    @given(call=random.calls, opset=st.sampled_from(random.opsets))
    def run(call: Call, opset: int) -> None:
        call = in_opset(call, op_type, opset)
        expected = run_by_onnxruntime(op_type, call, opset)
        found = operator.results(call.case("random", operator.operator.spec))
        assert_all_close(op_type, found, expected, random.rtol, random.atol)

    run()


# ---- Further calls -------------------------------------------------------------------------------

RAMP = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4) / 12
TIES = np.array([*itertools.product((-2.5, -1, -0.5, 0, 0.5, 1, 2.5), repeat=2)], np.float32)


def test_grid_sample_rounds_ties_like_onnxruntime(library_operator: Library) -> None:
    operator = library_operator("GridSample")
    call = Call({"X": RAMP, "grid": TIES.reshape(1, 7, 7, 2)}, {"mode": "nearest"})
    expected = run_by_onnxruntime("GridSample", call, 20)
    found = operator.results(call.case("ties", operator.operator.spec))
    assert_all_close("GridSample", found, expected)


@given(call=grid_sample_calls())
@settings(max_examples=40, deadline=None)
def test_grid_sample_like_onnx(library_operator: Library, call: Call) -> None:
    if (call.attributes["mode"], call.attributes["padding_mode"]) == ("cubic", "border"):
        return  # onnx moves locations to the border, onnxruntime and PyTorch pixels
    operator = library_operator("GridSample")
    found = operator.results(call.case("random", operator.operator.spec))
    assert_all_close("GridSample", found, run_by_onnx("GridSample", call, 20), atol=3e-6)


@pytest.mark.parametrize(
    "x", [np.array([2**31 - 1, 1], np.int32), np.array([-(2**31), -1, 5], np.int32)], ids=str
)
@pytest.mark.parametrize("exclusive", [0, 1])
def test_cum_sum_overflows_like_onnxruntime(
    library_operator: Library, x: Array, exclusive: int
) -> None:
    """Of PPLNN alone: librknnrt 1.6.0 has no integers."""
    operator = library_operator("CumSum")
    call = Call({"x": x, "axis": np.array(0)}, {"exclusive": exclusive})
    prepared = operator.operator.prepare(call.case("overflow", operator.operator.spec))
    result = operator.kernels["pplnn"].run(prepared.invocation)
    found = {"pplnn": result.outputs, "reference": prepared.expected}
    assert_all_close("CumSum", found, run_by_onnxruntime("CumSum", call, 14))


# ---- Invalid calls -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Invalid:
    """A call that reference and kernels refuse.

    Attributes:
        op_type: the operator.
        inputs: input -> array.
        params: param -> value.
        outputs: output -> shape, or shape and dtype if that is not float32.
        problem: a part of the messages.
    """

    op_type: str
    inputs: dict[str, Array]
    params: Any
    outputs: dict[str, Any]
    problem: str


def zeros(*shape: int, dtype: Any = np.float32) -> Array:
    return np.zeros(shape, dtype)


GRID = {"x": zeros(1, 2, 3, 4), "grid": zeros(1, 5, 6, 2)}
SAMPLED = {"y": (1, 2, 5, 6)}
ROWS = {"output": (3, 1)}
COLUMNS = {"image_shape": [3], "block_shape": [2]}
IMAGE = {"output": (1, 2, 3)}
SCORES = {"scores": zeros(1, 1, 5)}
PADDED = {"output_data": (1, 1)}
INDEX = np.dtype(np.int64)
BEST = {"selected_indices": ((1, 3), INDEX), "count": ((1,), INDEX)}
TOP = {"values": (2, 1), "indices": ((2, 1), INDEX)}
INVALID = [
    Invalid("GridSample", GRID, {"mode": "lanczos"}, SAMPLED, "mode must be linear, cubic or n"),
    Invalid("GridSample", GRID, {"padding_mode": "wrap"}, SAMPLED, "must be zeros, border or refl"),
    Invalid("GridSample", GRID, {"align_corners": 2}, SAMPLED, "align_corners must be 0 or 1"),
    *(
        Invalid(
            "ScatterElements",
            {"data": zeros(3), "indices": zeros(1, dtype=np.int64) + index, "updates": zeros(1)},
            {},
            {"output": (3,)},
            "indices must be within the axis",
        )
        for index in (3, -4, 2**20)
    ),
    *(
        Invalid(
            "ScatterND",
            {"data": zeros(3), "indices": zeros(1, 1, dtype=np.int64) + index, "updates": zeros(1)},
            {},
            {"output": (3,)},
            "indices must be within data",
        )
        for index in (3, -4, 2**20)
    ),
    *(
        Invalid(
            "GatherND",
            {"data": zeros(3), "indices": zeros(1, 1, dtype=np.int64) + index},
            {},
            {"output": (1,)},
            "indices must be within data",
        )
        for index in (3, -4, 2**20)
    ),
    *(
        Invalid("Col2Im", {"input": zeros(1, 4, 2)}, COLUMNS | params, IMAGE, problem)
        for params, problem in [
            ({"block_shape": [2, 2]}, "the same count of items, 1 to 4"),
            ({"strides": [1, 1]}, "must have an item for each dimension"),
            ({"dilations": [0]}, "must be above 0"),
            ({"dilations": [3]}, "must fit into the image"),
            ({"block_shape": [3]}, "input must be"),
        ]
    ),
    *(
        Invalid("CenterCropPad", {"input_data": zeros(2, 4)}, params, PADDED, problem)
        for params, problem in [
            ({"shape": [1]}, "shape must have an item for each axis"),
            ({"shape": [1, 0]}, "shape must be above 0"),
            ({"shape": [1], "axes": [2]}, "axes must be different dimensions"),
        ]
    ),
    Invalid("Det", {"x": zeros(2, 3)}, {}, {"y": (1,)}, "x must be square matrices"),
    Invalid("Det", {"x": zeros(4)}, {}, {"y": (1,)}, "x must be square matrices"),
    *(
        Invalid("NonMaxSuppression", SCORES | {"boxes": boxes}, params, BEST, problem)
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
    Invalid("Trilu", {"input": zeros(3)}, {}, {"output": (3,)}, "must have 2 or more dimensions"),
    Invalid("Trilu", {"input": zeros(3, 3)}, {"upper": 2}, {"output": (3, 3)}, "must be 0 or 1"),
    *(
        Invalid(
            "OneHot", {"indices": zeros(3), "values": values}, params, {"output": (3, 1)}, problem
        )
        for values, params, problem in [
            (zeros(2), {"depth": 0}, "depth must be 1 or more"),
            (zeros(2), {"depth": 1, "axis": 2}, "axis must be a dimension of output"),
            (zeros(3), {"depth": 1}, "values must have 2 elements: off and on"),
        ]
    ),
    *(
        Invalid("Compress", {"input": zeros(2, 3)}, params, {"output": (2, 1)}, problem)
        for params, problem in [
            ({"condition": [1], "axis": 2}, "axis must be a dimension of input"),
            ({"condition": [1, 0, 1], "axis": 0}, "condition must not be longer than the axis"),
            ({"condition": [0, 0]}, "condition must select a slice"),
        ]
    ),
    *(
        Invalid("TopK", {"x": zeros(2, 3)}, params, TOP, problem)
        for params, problem in [
            ({"k": 0}, "k must be 1 or more"),
            ({"k": 4}, "at most the length of the axis"),
            ({"k": 1, "axis": 2}, "axis must be a dimension of x"),
            ({"k": 1, "largest": 2}, "largest must be 0 or 1"),
            ({"k": 1, "sorted": 2}, "sorted must be 0 or 1"),
        ]
    ),
]


@pytest.mark.parametrize("call", INVALID, ids=lambda call: f"{call.op_type}: {call.problem}")
def test_invalid_call_is_refused(call: Invalid, library_operator: Library) -> None:
    outputs = {
        name: (each, np.dtype(np.float32)) if isinstance(each[0], int) else each
        for name, each in call.outputs.items()
    }
    case = Case("invalid", call.inputs, call.params)
    library_operator(call.op_type).assert_refused(case, outputs, call.problem)
