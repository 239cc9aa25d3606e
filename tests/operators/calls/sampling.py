"""Operators of sampling and geometry."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.operators.calls.common import (
    EXACT,
    InvalidCall,
    Random,
    Table,
    floats,
    integers_as,
    shapes,
    zeros,
)
from tests.operators.oracle import Call


@st.composite
def grid_sample_calls(draw: Any) -> Call:
    """Return images of 2 or 3 dimensions, and ties, edges, and locations far outside."""
    axes = draw(st.integers(2, 3))
    count, channels = draw(st.integers(1, 2)), draw(st.integers(1, 6))
    size = [draw(st.integers(1, 6)) for _ in range(axes)]
    output = [draw(st.integers(1, 4)) for _ in range(axes)]
    align_corners = draw(st.integers(0, 1))
    padding = draw(st.sampled_from(["zeros", "border", "reflection"]))
    if align_corners and padding == "reflection":  # onnxruntime divides by 0 for a single pixel
        size = [max(side, 2) for side in size]
    positions = st.one_of(
        st.integers(-24, 24).map(lambda eighths: eighths / 8),
        floats(-1.5, 1.5),
        floats(-100, 100),
    )
    x = draw(hnp.arrays(np.float32, (count, channels, *size), elements=floats(-1, 1)))
    grid = draw(hnp.arrays(np.float32, (count, *output, axes), elements=positions))
    mode = draw(st.sampled_from(["linear", "nearest", "cubic"][: 5 - axes]))
    return Call(
        {"X": x, "grid": grid},
        {"mode": mode, "padding_mode": padding, "align_corners": align_corners},
    )


@st.composite
def affine_grid_calls(draw: Any) -> Call:
    """Return transforms of images; not of single pixels with align_corners: programs differ."""
    axes, align_corners = draw(st.integers(2, 3)), draw(st.integers(0, 1))
    count = draw(st.integers(1, 3))
    theta = draw(hnp.arrays(np.float32, (count, axes, axes + 1), elements=floats(-2, 2)))
    sides = [draw(st.integers(1 + align_corners, 6)) for _ in range(axes)]
    size = np.array([count, draw(st.integers(1, 3)), *sides])
    return Call({"theta": theta, "size": size}, {"align_corners": align_corners})


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
def deform_conv_calls(draw: Any) -> Call:
    """Return samples between pixels, at their centers, at the edges and outside."""
    group, offset_group = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    channels = draw(st.integers(1, 3)) * group * offset_group
    kernels = draw(st.integers(1, 7)) * group
    image, kernel, dilations, strides = (
        [draw(st.integers(1, limit)) for _ in range(2)] for limit in (6, 3, 2, 2)
    )
    pads = [draw(st.integers(0, 2)) for _ in range(4)]
    output = []
    for i in range(2):
        extent = dilations[i] * (kernel[i] - 1) + 1
        image[i] = max(image[i], extent - pads[i] - pads[2 + i], 1)
        output.append((image[i] + pads[i] + pads[2 + i] - extent) // strides[i] + 1)
    count, elements = draw(st.integers(1, 2)), kernel[0] * kernel[1]
    offsets = st.integers(-24, 24).map(lambda eighths: eighths / 8) | floats(-9, 9)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    shape = (count, 2 * offset_group * elements, *output)
    inputs = {
        "X": random.uniform(-1, 1, (count, channels, *image)),
        "W": random.uniform(-1, 1, (kernels, channels // group, *kernel)),
        "offset": draw(hnp.arrays(np.float32, shape, elements=offsets)),
    }
    if draw(st.booleans()):
        inputs["B"] = random.uniform(-1, 1, kernels)
    if draw(st.booleans()):
        inputs["mask"] = random.uniform(-1, 1, (count, offset_group * elements, *output))
    attributes = {
        "dilations": dilations,
        "group": group,
        "offset_group": offset_group,
        "pads": pads,
        "strides": strides,
    }
    if draw(st.booleans()):
        attributes["kernel_shape"] = kernel
    return Call({name: array.astype(np.float32) for name, array in inputs.items()}, attributes)


@st.composite
def roi_align_calls(draw: Any) -> Call:
    """Return regions inside, at the edges and outside; also empty ones."""
    count, channels, height, width, rows, columns, regions = (
        draw(st.integers(1, limit)) for limit in (2, 3, 9, 9, 4, 4, 3)
    )
    edges = st.integers(-40, 120).map(lambda eighths: eighths / 8)
    rois = draw(hnp.arrays(np.float32, (regions, 2, 2), elements=edges))
    ratio = draw(st.integers(0, 3))
    if ratio == 0:  # onnxruntime fails if the count of samples is negative
        rois = np.sort(rois, axis=1)
    shape = (count, channels, height, width)
    inputs = {
        "X": draw(hnp.arrays(np.float32, shape, elements=floats(-1, 1))),
        "rois": rois.reshape(-1, 4),
        "batch_indices": draw(hnp.arrays(np.int64, regions, elements=st.integers(0, count - 1))),
    }
    transformations = st.sampled_from(["half_pixel", "output_half_pixel"])
    attributes = {
        "coordinate_transformation_mode": draw(transformations),
        "mode": draw(st.sampled_from(["avg", "max"])),
        "output_height": rows,
        "output_width": columns,
        "sampling_ratio": ratio,
        "spatial_scale": draw(st.sampled_from([1.0, 0.25, 0.75])),
    }
    return Call(inputs, attributes)


RANDOM = {
    # onnxruntime computes terms of up to 4 in float.
    "AffineGrid": Random(affine_grid_calls(), [20], atol=2e-6),
    "Col2Im": Random(col2im_calls(), [18], count=100),
    "CenterCropPad": Random(center_crop_pad_calls(), [18], count=80),
    # Sums of up to 108 products of numbers up to 1, in another order.
    "DeformConv": Random(deform_conv_calls(), [19, 22], atol=1e-5, count=120),
    "GridSample": Random(grid_sample_calls(), [16, 20], atol=3e-6, count=150),
    # Sums of up to 400 products of pixels up to 1. onnxruntime 1.32 lacks opset 22.
    "RoiAlign": Random(roi_align_calls(), [16], atol=2e-6, count=120),
}

GRID = {"x": zeros(1, 2, 3, 4), "grid": zeros(1, 5, 6, 2)}
SAMPLED = {"y": (1, 2, 5, 6)}
COLUMNS = {"image_shape": [3], "block_shape": [2]}
IMAGE = {"output": (1, 2, 3)}
PADDED = {"output_data": (1, 1)}
REGIONS = {
    "x": zeros(2, 3, 5, 6),
    "rois": zeros(4, 4),
    "batch_indices": zeros(4, dtype=np.int64),
}
DEFORMED = {
    "x": zeros(1, 2, 5, 5),
    "w": zeros(4, 2, 3, 3),
    "offset": zeros(1, 18, 3, 3),
    "b": zeros(4),
    "mask": zeros(1, 9, 3, 3),
}

TRANSFORM = {"theta": zeros(1, 2, 3)}
PIXELS: dict[str, Any] = {"size": [1, 3, 4, 5]}

INVALID = [
    InvalidCall(
        "GridSample", GRID, {"mode": "lanczos"}, SAMPLED, "mode must be linear, cubic or n"
    ),
    InvalidCall(
        "GridSample", GRID, {"padding_mode": "wrap"}, SAMPLED, "must be zeros, border or refl"
    ),
    InvalidCall("GridSample", GRID, {"align_corners": 2}, SAMPLED, "align_corners must be 0 or 1"),
    InvalidCall(
        "GridSample",
        {"x": zeros(1, 2, 2, 3, 4), "grid": zeros(1, 5, 6, 7, 3)},
        {"mode": "cubic"},
        {"y": (1, 2, 5, 6, 7)},
        "mode must be linear or nearest for x of 5 dimensions",
    ),
    *(
        InvalidCall("Col2Im", {"input": zeros(1, 4, 2)}, COLUMNS | params, IMAGE, problem)
        for params, problem in [
            ({"block_shape": [2, 2]}, "the same count of items, 1 to 4"),
            ({"strides": [1, 1]}, "must have an item for each dimension"),
            ({"dilations": [0]}, "must be above 0"),
            ({"dilations": [3]}, "must fit into the image"),
            ({"block_shape": [3]}, "input must be"),
        ]
    ),
    *(
        InvalidCall("DeformConv", DEFORMED | inputs, params, {"y": (1, 4, 3, 3)}, problem)
        for inputs, params, problem in [
            ({"w": zeros(4, 2, 9)}, {}, "x and w must have 4 dimensions"),
            ({"w": zeros(4, 1, 3, 3)}, {}, "w must be"),
            ({"w": zeros(4, 2, 6, 1)}, {}, "a kernel must fit into the image"),
            ({"offset": zeros(1, 16, 3, 3)}, {}, "offset must be"),
            ({"mask": zeros(1, 18, 3, 3)}, {}, "mask must be"),
            ({"b": zeros(3)}, {}, "b must be"),
            ({}, {"pads": [1, 1]}, "must have 2 items, and pads 4"),
            ({}, {"strides": [0]}, "strides and dilations must be above 0"),
            ({}, {"pads": [-1]}, "pads not negative"),
            ({}, {"kernel_shape": [3, 2]}, "kernel_shape must be that of w"),
            ({}, {"group": 0}, "group and offset_group must be above 0"),
            ({}, {"group": 3}, "a multiple of group and offset_group"),
        ]
    ),
    *(
        InvalidCall("RoiAlign", REGIONS | inputs, params, {"y": (4, 3, 1, 1)}, problem)
        for inputs, params, problem in [
            ({"x": zeros(2, 3, 5)}, {}, "x must be"),
            ({"rois": zeros(4, 5)}, {}, "rois must be"),
            ({"batch_indices": np.array([0, 1, 2, 0])}, {}, "batch_indices must be from 0 to N"),
            ({"batch_indices": np.array([0, -1, 1, 0])}, {}, "batch_indices must be from 0 to N"),
            ({}, {"mode": "min"}, "mode must be avg or max"),
            ({}, {"coordinate_transformation_mode": "half"}, "must be half_pixel or output_half"),
            ({}, {"output_width": 0}, "output_height and output_width must be above 0"),
            ({}, {"sampling_ratio": -1}, "sampling_ratio not negative"),
        ]
    ),
    *(
        InvalidCall(
            "AffineGrid", TRANSFORM | inputs, PIXELS | params, {"grid": (1, 4, 5, 2)}, problem
        )
        for inputs, params, problem in [
            ({"theta": zeros(1, 2, 4)}, {}, "theta must be"),
            ({"theta": zeros(1, 3, 4)}, {}, "size must be"),
            ({"theta": zeros(2, 2, 3)}, {}, "size must have the N of theta"),
            ({}, {"size": [1, 3, 4, -1]}, "size must not be negative"),
        ]
    ),
    InvalidCall(
        "AffineGrid",
        TRANSFORM,
        PIXELS | {"align_corners": 2},
        {"grid": (1, 4, 5, 2)},
        "align_corners must be 0 or 1",
    ),
    *(
        InvalidCall("CenterCropPad", {"input_data": zeros(2, 4)}, params, PADDED, problem)
        for params, problem in [
            ({"shape": [1]}, "shape must have an item for each axis"),
            ({"shape": [1, 0]}, "shape must be above 0"),
            ({"shape": [1], "axes": [2]}, "axes must be different dimensions"),
        ]
    ),
]

TABLE = Table(
    RANDOM,
    {
        "AffineGrid": 4,
        "CenterCropPad": 6,
        "Col2Im": 5,
        "DeformConv": 4,
        "GridSample": 18,
        "RoiAlign": 3,
    },
    invalid=INVALID,
)
