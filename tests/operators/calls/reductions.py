"""Reductions and normalizations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.operators.calls.common import (
    InvalidCall,
    Random,
    Table,
    axes,
    floats,
    shapes,
    zeros,
)
from tests.operators.oracle import Call


@st.composite
def det_calls(draw: Any) -> Call:
    side = draw(st.integers(1, 5))
    outer = draw(st.sampled_from([(), (1,), (3,), (2, 2)]))
    quarters = st.integers(-8, 8).map(lambda each: each / 4)
    return Call({"X": draw(hnp.arrays(np.float32, (*outer, side, side), elements=quarters))}, {})


@st.composite
def reduce_calls(
    draw: Any,
    elements: st.SearchStrategy[float],
    max_side: int = 7,
    whole: st.SearchStrategy[int] | None = None,
) -> Call:
    """Return reductions along some axes; without any, by noop_with_empty_axes along all or none.

    Nodes without axes lack that input, or it has no elements.

    Args:
        draw: of hypothesis.
        elements: of float32.
        max_side: of the shapes.
        whole: integers; None: there are none.
    """
    dtype = draw(
        st.sampled_from([np.float32] if whole is None else [np.float32, np.int32, np.int64])
    )
    numbers = elements if whole is None or dtype == np.float32 else whole.map(dtype)
    x = draw(hnp.arrays(dtype, shapes(max_side=max_side), elements=numbers))
    chosen = draw(st.permutations(range(x.ndim)))[: draw(st.integers(0, x.ndim))]
    inputs = {"data": x}
    if chosen or draw(st.booleans()):
        axes_ = [axis - draw(st.sampled_from([0, x.ndim])) for axis in chosen]
        inputs["axes"] = np.array(axes_, np.int64)
    flags = {name: draw(st.integers(0, 1)) for name in ("keepdims", "noop_with_empty_axes")}
    return Call(inputs, flags)


QUARTERS = st.integers(-16, 16).map(lambda each: np.float32(each / 4))
EPSILONS = st.sampled_from([0.01, 0.1, 1.0])


@st.composite
def layer_normalization_calls(draw: Any) -> Call:
    """Return also calls without a bias."""
    x = draw(hnp.arrays(np.float32, shapes(), elements=QUARTERS))
    axis = draw(axes(x.ndim))
    inputs = {"X": x, "Scale": draw(hnp.arrays(np.float32, x.shape[axis:], elements=QUARTERS))}
    if draw(st.booleans()):
        inputs["B"] = draw(hnp.arrays(np.float32, x.shape[axis:], elements=QUARTERS))
    return Call(inputs, {"axis": axis, "epsilon": draw(EPSILONS)})


@st.composite
def rms_normalization_calls(draw: Any) -> Call:
    x = draw(hnp.arrays(np.float32, shapes(), elements=QUARTERS))
    axis = draw(axes(x.ndim))
    scale = draw(hnp.arrays(np.float32, x.shape[axis:], elements=QUARTERS))
    return Call({"X": x, "scale": scale}, {"axis": axis, "epsilon": draw(EPSILONS)})


@st.composite
def instance_normalization_calls(draw: Any) -> Call:
    x = draw(hnp.arrays(np.float32, shapes(min_rank=3, max_side=5), elements=QUARTERS))
    scale, bias = (draw(hnp.arrays(np.float32, x.shape[1:2], elements=QUARTERS)) for _ in range(2))
    return Call({"input": x, "scale": scale, "B": bias}, {"epsilon": draw(EPSILONS)})


@st.composite
def group_normalization_calls(draw: Any) -> Call:
    groups, size = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    outer, inner = draw(st.integers(1, 3)), draw(shapes(max_rank=3, max_side=5))
    shape = (outer, groups * size, *inner)
    x = draw(hnp.arrays(np.float32, shape, elements=QUARTERS))
    scale, bias = (draw(hnp.arrays(np.float32, shape[1:2], elements=QUARTERS)) for _ in range(2))
    inputs = {"X": x, "scale": scale, "bias": bias}
    return Call(inputs, {"num_groups": groups, "epsilon": draw(EPSILONS)})


@st.composite
def lp_pool_calls(draw: Any) -> Call:
    """Return windows in images of 1 to 3 dimensions; onnxruntime has no pads as long as windows.

    With SAME_UPPER and SAME_LOWER it ignores dilations in the shape of the output.
    """
    image = draw(shapes(max_rank=3, max_side=8))
    kernel = [draw(st.integers(1, min(side, 4))) for side in image]
    auto_pad = draw(st.sampled_from(["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]))
    is_same = auto_pad.startswith("SAME_")
    dilations = [
        2 if not is_same and 2 * size - 1 <= side and draw(st.booleans()) else 1
        for size, side in zip(kernel, image, strict=True)
    ]
    attributes = {
        "kernel_shape": kernel,
        "p": draw(st.integers(1, 4)),
        "strides": [draw(st.integers(1, 5 if is_same else 3)) for _ in kernel],
        "dilations": dilations,
        "auto_pad": auto_pad,
        "ceil_mode": draw(st.integers(0, 1)),
    }
    if auto_pad == "NOTSET":
        attributes["pads"] = [draw(st.integers(0, min(size - 1, 2))) for size in kernel * 2]
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 3)), *image)
    x = draw(hnp.arrays(np.float32, shape, elements=floats(-8, 8) | SPECIAL))
    return Call({"X": x}, attributes)


@st.composite
def global_lp_pool_calls(draw: Any) -> Call:
    elements = floats(-8, 8) | SPECIAL
    x = draw(hnp.arrays(np.float32, shapes(min_rank=3, max_side=6), elements=elements))
    return Call({"X": x}, {"p": draw(st.integers(1, 4))})


@st.composite
def mean_variance_normalization_calls(draw: Any) -> Call:
    """Return different elements: for a variance of 0, onnxruntime returns NaN."""
    shape = draw(hnp.array_shapes(min_dims=4, max_dims=4, min_side=2, max_side=6))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = random.permutation(math.prod(shape)).reshape(shape).astype(np.float32) / 8
    axes_ = draw(st.permutations(range(4)))[: draw(st.integers(1, 4))]
    return Call({"X": x}, {"axes": [axis - draw(st.sampled_from([0, 4])) for axis in axes_]})


REDUCTIONS = (
    *("ReduceL1", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceProd"),
    "ReduceSumSquare",
)
REDUCTION_OPSETS = [11, 13, 18]
SPECIAL = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, 1.0])
WHOLE = st.integers(-80, 80)  # sums of 2,401 squares are below 2^24
POWERS_OF_TWO = st.sampled_from([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])

RANDOM = {
    # onnxruntime adds up to 2,401 floats one after the other.
    "ReduceL1": Random(
        reduce_calls(floats(-8, 8) | SPECIAL, whole=WHOLE), REDUCTION_OPSETS, rtol=1e-5
    ),
    "ReduceSumSquare": Random(
        reduce_calls(floats(-8, 8) | SPECIAL, whole=WHOLE), REDUCTION_OPSETS, rtol=1e-5
    ),
    # The same, and summands may cancel.
    "ReduceMean": Random(
        reduce_calls(floats(-8, 8) | SPECIAL, whole=WHOLE), REDUCTION_OPSETS, rtol=1e-5, atol=1e-5
    ),
    # The same before the logarithm, which makes a relative error an absolute one.
    "ReduceLogSum": Random(
        reduce_calls(floats(0, 8) | st.just(math.nan) | st.just(math.inf)),
        REDUCTION_OPSETS,
        rtol=1e-6,
        atol=1e-5,
    ),
    "ReduceLogSumExp": Random(
        reduce_calls(floats(-100, 100)), REDUCTION_OPSETS, rtol=1e-6, atol=1e-5
    ),
    # Products of up to 27 powers of 2: exact.
    "ReduceProd": Random(
        reduce_calls(POWERS_OF_TWO | SPECIAL, max_side=2, whole=st.integers(-2, 2)),
        REDUCTION_OPSETS,
    ),
    # onnxruntime subtracts the square of the mean from the mean of the squares, which are up to 16;
    # the difference may be 0, and 0.01 is added to it.
    "LayerNormalization": Random(layer_normalization_calls(), [17], rtol=1e-4, atol=1e-4),
    "RMSNormalization": Random(rms_normalization_calls(), [23], rtol=1e-5),
    "InstanceNormalization": Random(instance_normalization_calls(), [6, 22], rtol=1e-4, atol=1e-4),
    "GroupNormalization": Random(group_normalization_calls(), [18, 21], rtol=1e-4, atol=1e-4),
    # onnxruntime subtracts the square of the mean from the mean of the squares, up to 162^2.
    "MeanVarianceNormalization": Random(
        mean_variance_normalization_calls(), [9, 13], rtol=1e-4, atol=1e-4
    ),
    # onnxruntime computes powers, their sums and the root in float32.
    "LpPool": Random(lp_pool_calls(), [18, 22], rtol=1e-5, atol=1e-7, count=150),
    "GlobalLpPool": Random(global_lp_pool_calls(), [13, 21], rtol=1e-5, atol=1e-7),
    # onnxruntime computes in float32: products of up to 5 elements of 2, of which many cancel.
    "Det": Random(det_calls(), [11, 22], rtol=1e-5, atol=1e-4, count=80),
}


def invalid_reductions() -> Iterator[InvalidCall]:
    """Yield the invalid calls of every reduction."""
    for op_type in REDUCTIONS:
        data, reduced = {"data": zeros(2, 3)}, {"reduced": (1, 1)}
        for params, problem in [
            ({"axes": [2]}, "axes must be different dimensions"),
            ({"axes": [0, -2]}, "axes must be different dimensions"),
            ({"keepdims": 2}, "keepdims must be 0 or 1"),
            ({"noop_with_empty_axes": -1}, "noop_with_empty_axes must be 0 or 1"),
        ]:
            yield InvalidCall(op_type, data, params, reduced, problem)


def invalid_normalizations() -> Iterator[InvalidCall]:
    row, column = zeros(3), zeros(2)
    layer = {"y": (2, 3), "mean": (2, 1), "invstddev": (2, 1)}
    tensors = {"x": zeros(2, 3), "scale": row, "b": row}
    for changes, problem in [
        ({"axis": 2}, "axis must be a dimension of x"),
        ({"stash_type": 16}, "stash_type must be 1"),
    ]:
        yield InvalidCall("LayerNormalization", tensors, changes, layer, problem)
    for scale in (column, zeros(1), zeros(2, 3)):
        tensors = {"x": zeros(2, 3), "scale": scale, "b": scale}
        problem = "scale and b must have the dimensions of x from axis on; they are not broadcast"
        yield InvalidCall("LayerNormalization", tensors, {}, layer, problem)
    tensors = {"x": zeros(2, 3), "scale": row}
    for changes, problem in [
        ({"axis": -3}, "axis must be a dimension of x"),
        ({"stash_type": 0}, "stash_type must be 1"),
        ({"axis": 0}, "scale must have the dimensions of x from axis on"),
    ]:
        yield InvalidCall("RMSNormalization", tensors, changes, {"y": (2, 3)}, problem)
    for shape, scale, problem in [
        ((2, 3), row, "with 3 dimensions or more"),
        ((2, 3, 4), column, "an element for each channel"),
    ]:
        tensors = {"input": zeros(*shape), "scale": scale, "b": scale}
        yield InvalidCall("InstanceNormalization", tensors, {}, {"output": shape}, problem)
    for shape, groups, scale, problem in [
        ((2, 3), 3, row, "with 3 dimensions or more"),
        ((2, 3, 4), 2, row, "num_groups must be a divisor of the channels"),
        ((2, 3, 4), 0, row, "num_groups must be a divisor of the channels"),
        ((2, 3, 4), 3, column, "an element for each channel, or for each"),
    ]:
        tensors = {"x": zeros(*shape), "scale": scale, "bias": scale}
        changes = {"num_groups": groups}
        yield InvalidCall("GroupNormalization", tensors, changes, {"y": shape}, problem)


def invalid_pools() -> Iterator[InvalidCall]:
    window: dict[str, Any] = {"kernel_shape": [2]}
    pools: list[tuple[int, dict[str, Any], str]] = [
        (1, {}, "a window must fit into the image with its pads"),
        (4, {"kernel_shape": [2, 2]}, "must have an item for each dimension"),
        (4, {"strides": [2, 2]}, "must have an item for each dimension"),
        (4, {"pads": [1, 1, 1]}, "must have an item for each dimension"),
        (4, {"dilations": [0]}, "must be above 0, and pads not negative"),
        (4, {"auto_pad": "SAME"}, "auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER"),
        (4, {"ceil_mode": 2}, "ceil_mode must be 0 or 1"),
        (4, {"p": 0}, "p must be 1 or more"),
    ]
    for side, changes, problem in pools:
        outputs = {"y": (1, 1, max(side - 1, 1))}
        yield InvalidCall("LpPool", {"x": zeros(1, 1, side)}, window | changes, outputs, problem)
    problem = "with 3 dimensions or more"
    yield InvalidCall("GlobalLpPool", {"x": zeros(2, 3)}, {"p": 2}, {"y": (2, 3, 1)}, problem)


INVALID = [
    *(
        InvalidCall(
            "MeanVarianceNormalization",
            {"x": zeros(2, 3)},
            {"axes": axes_},
            {"y": (2, 3)},
            "axes must be different dimensions",
        )
        for axes_ in ([0, 2, 3], [-3], [1, -1])
    ),
    *invalid_pools(),
    *invalid_normalizations(),
    *invalid_reductions(),
    InvalidCall("Det", {"x": zeros(2, 3)}, {}, {"y": (1,)}, "x must be square matrices"),
    InvalidCall("Det", {"x": zeros(4)}, {}, {"y": (1,)}, "x must be square matrices"),
]

NODE_TESTS = {
    "Det": 2,
    "GlobalLpPool": 0,
    "GroupNormalization": 2,
    "InstanceNormalization": 2,
    "LayerNormalization": 19,
    "LpPool": 8,
    "MeanVarianceNormalization": 1,
    "RMSNormalization": 19,
    "ReduceL1": 9,
    "ReduceLogSum": 5,
    "ReduceMean": 8,
    "ReduceLogSumExp": 9,
    "ReduceProd": 9,
    "ReduceSumSquare": 9,
}

TABLE = Table(RANDOM, NODE_TESTS, invalid=INVALID)
