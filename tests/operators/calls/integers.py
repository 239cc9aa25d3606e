"""Operators of integers: bit by bit, and of quantized numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import helper

from opkit.runtimes.invocation import Array
from tests.operators.calls.common import (
    EXACT,
    InvalidCall,
    NotApplicable,
    NoTensors,
    Random,
    Table,
    floats,
    shapes,
    zeros,
)
from tests.operators.calls.elementwise import broadcast_arrays
from tests.operators.oracle import Call

DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64]
"""The integers that onnxruntime and PPLNN both have."""
PATTERNS = EXACT.filter(lambda each: each < 2**24)


def elements(dtype: Any) -> st.SearchStrategy[Any]:
    """Return all integers of a dtype, or those that librknnrt 1.6.0 passes unchanged."""
    return PATTERNS if dtype in (np.int32, np.int64) else hnp.from_dtype(np.dtype(dtype))


@st.composite
def bitwise_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from(DTYPES))
    a, b = draw(broadcast_arrays(dtype, elements(dtype)))
    return Call({"A": a, "B": b}, {})


@st.composite
def bitwise_not_calls(draw: Any) -> Call:
    dtype = draw(st.sampled_from(DTYPES))
    return Call({"X": draw(hnp.arrays(dtype, shapes(), elements=elements(dtype)))}, {})


@st.composite
def bit_shift_calls(draw: Any) -> Call:
    """Return shifts of the types that onnxruntime has, by fewer bits than they have."""
    dtype = draw(st.sampled_from([np.uint8, np.uint32]))
    x, y = draw(broadcast_arrays(dtype, elements(dtype)))
    bits = 8 * np.dtype(dtype).itemsize
    direction = draw(st.sampled_from(["LEFT", "RIGHT"]))
    return Call({"X": x, "Y": y % dtype(bits)}, {"direction": direction})


TYPES = [(np.int8, np.int8), (np.uint8, np.int8), (np.uint8, np.uint8)]
"""Those of two matrices, in onnxruntime."""


@st.composite
def matrices(draw: Any) -> list[Array]:
    """Return matrices of 8 bits, and zero points: of the second one, also for each column."""
    rows, terms, columns = (draw(st.integers(1, 70)) for _ in range(3))
    left, right = draw(st.sampled_from(TYPES))
    batch = draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3))
    is_batched = draw(st.booleans())
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    b_zero = 1 if batch and is_batched else draw(st.sampled_from([1, columns]))
    b = bytes_of(random, (*(batch if is_batched else ()), terms, columns), right)
    # Of uint8 and int8, onnxruntime saturates sums of two products at 2^15, where it has no VNNI.
    return [
        bytes_of(random, (*batch, rows, terms), left),
        b if (left, right) != (np.uint8, np.int8) else b // 2,
        bytes_of(random, (), left),
        bytes_of(random, b_zero, right),
    ]


def bytes_of(random: np.random.Generator, shape: Any, dtype: Any) -> Array:
    """Return any integers of a dtype."""
    limits = np.iinfo(dtype)
    return np.asarray(random.integers(limits.min, limits.max, shape, dtype, endpoint=True), dtype)


@st.composite
def mat_mul_integer_calls(draw: Any) -> Call:
    names = ("A", "B", "a_zero_point", "b_zero_point")
    return Call(dict(zip(names, draw(matrices()), strict=True)), {})


@st.composite
def q_linear_mat_mul_calls(draw: Any) -> Call:
    """Return products that few numbers saturate."""
    a, b, a_zero, b_zero = draw(matrices())
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    step = 100 * a.shape[-1] ** 0.5
    return Call(
        {
            "a": a,
            "a_scale": np.array(random.uniform(0.5, 2), np.float32),
            "a_zero_point": a_zero,
            "b": b,
            "b_scale": random.uniform(0.5, 2, b_zero.shape).astype(np.float32),
            "b_zero_point": b_zero,
            "y_scale": np.array(random.uniform(step / 2, step), np.float32),
            "y_zero_point": bytes_of(random, (), a.dtype),
        },
        {},
    )


@st.composite
def dynamic_quantize_calls(draw: Any) -> Call:
    x = draw(hnp.arrays(np.float32, shapes(), elements=floats(-300, 200) | floats(-1, 1)))
    return Call({"x": x}, {})


NUMBERS = [np.int8, np.uint8, np.int16, np.uint16]


@st.composite
def scales(draw: Any) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, int]]:
    """Return a shape, that of its scales, and attributes; onnxruntime has no single block."""
    shape = draw(shapes(max_side=9))
    kind = draw(st.sampled_from(["one", "axis", "blocks"]))
    if kind == "one":
        return shape, (), {}
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    if kind == "axis":
        return shape, shape[axis : axis + 1 or None], {"axis": axis}
    size = draw(st.integers(1, shape[axis]))
    found = [*shape]
    found[axis] = -(-found[axis] // size)
    if max(found) == 1:
        return shape, (), {}
    return shape, tuple(found), {"axis": axis, "block_size": size}


@st.composite
def quantize_calls(draw: Any) -> Call:
    """Return numbers of which few saturate; some are halfway between two steps."""
    shape, scale_shape, attributes = draw(scales())
    dtype = draw(st.sampled_from(NUMBERS))
    limits = np.iinfo(dtype)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    reach = limits.max - limits.min
    x = random.integers(-reach, reach, shape) / np.float32(2)
    inputs = {"x": x.astype(np.float32), "y_scale": powers(random, scale_shape)}
    if dtype == np.uint8 and draw(st.booleans()):
        return Call(inputs, attributes)
    return Call({**inputs, "y_zero_point": bytes_of(random, scale_shape, dtype)}, attributes)


@st.composite
def dequantize_calls(draw: Any) -> Call:
    shape, scale_shape, attributes = draw(scales())
    dtype = draw(st.sampled_from([*NUMBERS, np.int32]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = random.uniform(0.5, 2, scale_shape).astype(np.float32)
    inputs = {"x": bytes_of(random, shape, dtype), "x_scale": np.asarray(scale)}
    if dtype != np.int32 and draw(st.booleans()):  # in onnxruntime that of int32 must be 0
        inputs["x_zero_point"] = bytes_of(random, scale_shape, dtype)
    return Call(inputs, attributes)


def powers(random: np.random.Generator, shape: Any) -> Array:
    """Return powers of 2, by which floats divide exactly."""
    return np.asarray(2.0 ** random.integers(-2, 3, shape), np.float32)


@st.composite
def conv_tensors(draw: Any) -> tuple[list[Array], dict[str, Any]]:
    """Return an image, kernels, their zero points and attributes.

    With SAME_UPPER and SAME_LOWER, onnxruntime has no dilations.
    """
    image = draw(shapes(max_rank=3, max_side=9))
    group, channels, kernels = (draw(st.integers(1, 4)) for _ in range(3))
    kernel = [draw(st.integers(1, min(side, 4))) for side in image]
    auto_pad = draw(st.sampled_from(["NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]))
    is_same = auto_pad.startswith("SAME_")
    attributes = {
        "group": group,
        "strides": [draw(st.integers(1, 3)) for _ in kernel],
        "dilations": [
            2 if not is_same and 2 * size - 1 <= side and draw(st.booleans()) else 1
            for size, side in zip(kernel, image, strict=True)
        ],
        "auto_pad": auto_pad,
    }
    if auto_pad == "NOTSET":
        attributes["pads"] = [draw(st.integers(0, 3)) for _ in kernel * 2]
    if draw(st.booleans()):
        attributes["kernel_shape"] = kernel
    left, right = draw(st.sampled_from(TYPES))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = bytes_of(random, (draw(st.integers(1, 2)), group * channels, *image), left)
    w = bytes_of(random, (group * kernels, channels, *kernel), right)
    # Of uint8 and int8, onnxruntime saturates sums of two products at 2^15, where it has no VNNI.
    w = w if (left, right) != (np.uint8, np.int8) else w // 2
    return [x, w, bytes_of(random, (), left), bytes_of(random, (), right)], attributes


@st.composite
def conv_integer_calls(draw: Any) -> Call:
    names = ("x", "w", "x_zero_point", "w_zero_point")
    arrays, attributes = draw(conv_tensors())
    return Call(dict(zip(names, arrays, strict=True)), attributes)


@st.composite
def q_linear_conv_calls(draw: Any) -> Call:
    """Return convolutions that few numbers saturate."""
    (x, w, x_zero, w_zero), attributes = draw(conv_tensors())
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = draw(st.sampled_from([(), w.shape[:1]]))
    step = 100 * np.prod(w.shape[1:]) ** 0.5
    inputs = {
        "x": x,
        "x_scale": np.array(random.uniform(0.5, 2), np.float32),
        "x_zero_point": x_zero,
        "w": w,
        "w_scale": np.asarray(random.uniform(0.5, 2, rows), np.float32),
        "w_zero_point": np.full(rows, w_zero),
        "y_scale": np.array(random.uniform(step / 2, step), np.float32),
        "y_zero_point": bytes_of(random, (), x.dtype),
    }
    if draw(st.booleans()):
        inputs["B"] = random.integers(-9000, 9000, w.shape[:1]).astype(np.int32)
    return Call(inputs, attributes)


@st.composite
def cast_like_calls(draw: Any) -> Call:
    """Return casts of numbers that the target's type has; others are open for floats."""
    from_ = draw(st.sampled_from([*NUMBERS, np.float32, np.int32, np.int64]))
    to = draw(st.sampled_from([np.float32, np.int32, np.int64]))
    x = draw(hnp.arrays(np.float32, shapes(), elements=floats(0, 127)))
    return Call({"input": x.astype(from_), "target_type": np.zeros(2, to)}, {})


@st.composite
def bit_cast_calls(draw: Any) -> Call:
    """Return casts of bits that are not NaN as floats."""
    from_, to = draw(
        st.sampled_from(
            [
                *itertools.permutations([np.float32, np.int32, np.uint32], 2),
                *itertools.permutations([np.int8, np.uint8], 2),
                *itertools.permutations([np.int16, np.uint16], 2),
            ]
        )
    )
    x = draw(hnp.arrays(np.int32, shapes(), elements=st.integers(-(2**30), 2**30)))
    number = int(helper.np_dtype_to_tensor_dtype(np.dtype(to)))
    return Call({"input": x.astype(from_)}, {"to": number})


RANDOM = {
    "BitCast": Random(bit_cast_calls(), [26]),
    "CastLike": Random(cast_like_calls(), [19, 25], count=80),
    "BitShift": Random(bit_shift_calls(), [11]),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), Random(bitwise_calls(), [18])),
    "BitwiseNot": Random(bitwise_not_calls(), [18]),
    "DynamicQuantizeLinear": Random(dynamic_quantize_calls(), [11]),
    "ConvInteger": Random(conv_integer_calls(), [10], count=120),
    "DequantizeLinear": Random(dequantize_calls(), [21, 23]),
    "QuantizeLinear": Random(quantize_calls(), [21, 23]),
    "MatMulInteger": Random(mat_mul_integer_calls(), [10], count=40),
    "QLinearConv": Random(q_linear_conv_calls(), [10], count=120),
    "QLinearMatMul": Random(q_linear_mat_mul_calls(), [10, 21], count=40),
}

NODE_TESTS = {
    "BitCast": 10,
    "BitShift": 28,
    "CastLike": 56,
    "BitwiseNot": 3,
    "ConvInteger": 2,
    "DequantizeLinear": 14,
    "DynamicQuantizeLinear": 3,
    "MatMulInteger": 1,
    "QLinearConv": 1,
    "QLinearMatMul": 8,
    "QuantizeLinear": 13,
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), 4),
}

NOT_APPLICABLE: dict[str, NotApplicable] = {
    r"test_bitwise_(and|or|xor)_ui64_bcast_3v1d": NoTensors("input 'a' is uint64"),
    r"test_bitshift_(left|right)_uint64": NoTensors("input 'x' is uint64"),
    r"test_bitcast_(float64_to_int64|int64_to_float64)": NoTensors("param 'to'|of the size"),
    r"test_castlike_U?INT[24]_to_U?INT8": NoTensors("input 'input' is"),
    r"test_castlike_(.*_)?(BFLOAT16|FLOAT8\w+|U?INT[24]|FLOAT4E2M1)_to_.*": NoTensors(
        "input 'input'"
    ),
    r"test_castlike_(.*_)?(FLOAT|FLOAT16)_to_(BFLOAT16|FLOAT8\w+|U?INT[24]|FLOAT4E2M1)": NoTensors(
        "input 'target_type' is"
    ),
    r"test_dequantizelinear_(e4m3|e5m2|u?int[24]|float4).*": NoTensors(
        "input 'x' is (float|u?int)"
    ),
    r"test_quantizelinear_(e4m3|e5m2|u?int[24]|float4).*": NoTensors("input 'y_zero_point' is "),
}

BYTES = np.zeros((3, 3), np.int8)
QUANTIZED = {
    "a": BYTES,
    "a_scale": zeros(1),
    "a_zero_point": BYTES[0, :1],
    "b": BYTES,
    "b_scale": zeros(1),
    "b_zero_point": BYTES[0, :1],
    "y_scale": zeros(1),
    "y_zero_point": BYTES[0, :1],
}


def invalid_scales() -> Iterator[InvalidCall]:
    """Yield invalid calls of QuantizeLinear and DequantizeLinear."""
    floats_, numbers = zeros(2, 3), zeros(2, 3, dtype=np.uint8)
    row = zeros(3)
    for changes, zero, params, problem in [
        ({}, row, {}, "y_zero_point of its type"),
        ({"y_scale": row.astype(np.int32)}, row.astype(np.uint8), {}, "must be float16 or float32"),
        ({}, numbers[0, :1], {}, "y_zero_point that of y_scale"),
        ({}, numbers[0], {"axis": 0}, "one for each place along the axis"),
        ({}, numbers[0], {"axis": 2}, "axis must be a dimension of x"),
        ({}, numbers[0], {"block_size": 2}, "one for each block along the axis"),
        ({}, numbers[0], {"output_dtype": 3}, "must be 0 or the type of y"),
    ]:
        inputs = {"x": floats_, "y_scale": row, "y_zero_point": zero, **changes}
        outputs = {"y": ((2, 3), np.uint8)}
        yield InvalidCall("QuantizeLinear", inputs, params, outputs, problem)
    for changes, params, problem in [
        ({"x": zeros(2, 3, dtype=np.int8)}, {}, "x_zero_point of its type"),
        ({"x_scale": row.astype(np.int32)}, {}, "must be float16 or float32"),
        ({"x_zero_point": numbers[0, :1]}, {}, "x_zero_point that of x_scale"),
        ({}, {"axis": 0}, "one for each place along the axis"),
        ({}, {"axis": -3}, "axis must be a dimension of x"),
        ({}, {"block_size": 2}, "one for each block along the axis"),
    ]:
        inputs = {"x": numbers, "x_scale": row, "x_zero_point": numbers[0], **changes}
        yield InvalidCall("DequantizeLinear", inputs, params, {"y": (2, 3)}, problem)


def invalid_convolutions() -> Iterator[InvalidCall]:
    """Yield invalid calls of ConvInteger and QLinearConv."""
    zero = zeros(1, dtype=np.int8)
    tensors = {"x": zeros(1, 4, 5, 5, dtype=np.int8), "w": zeros(4, 2, 3, 3, dtype=np.int8)}
    tensors |= {"x_zero_point": zero, "w_zero_point": zero}
    scale = zeros(1)
    quantizers = {"x_scale": scale, "w_scale": scale, "y_scale": scale, "y_zero_point": zero}
    cases: list[tuple[dict[str, Array], dict[str, Any], str]] = [
        ({"w": zeros(4, 2, 3, dtype=np.int8)}, {}, "with 1 to 3 dimensions"),
        ({}, {"group": 1}, "group must divide"),
        ({"w": zeros(3, 2, 3, 3, dtype=np.int8)}, {}, "group must divide"),
        ({}, {"strides": [1, 1, 1]}, "must have an item for each dimension"),
        ({}, {"pads": [1, 1]}, "must have an item for each dimension"),
        ({}, {"dilations": [0]}, "must be above 0"),
        ({}, {"auto_pad": "SAME"}, "auto_pad must be"),
        ({}, {"kernel_shape": [3, 2]}, "must be the shape of w"),
        ({}, {"dilations": [4]}, "a window must fit"),
        ({"w_zero_point": zeros(2, dtype=np.int8)}, {}, "w_zero_point one or"),
        ({"x_zero_point": zeros(1, dtype=np.uint8)}, {}, "of the types of x and w"),
    ]
    own: list[tuple[dict[str, Array], dict[str, Any], str]] = [
        ({"y_zero_point": zeros(1, dtype=np.uint8)}, {}, "must be of the type of x"),
        ({"w_scale": zero}, {}, "scales must be float16 or float32"),
        ({"y_scale": zeros(2)}, {}, "of x and y must be one number"),
        ({"w_scale": zeros(2)}, {}, "w_scale must be one number"),
        ({"b": zeros(1, dtype=np.int32)}, {}, "b must be int32"),
    ]
    for name, changed, inputs, dtype in [
        ("ConvInteger", cases, tensors, np.int32),
        ("QLinearConv", cases + own, quantizers | {"b": zeros(4, dtype=np.int32)}, np.int8),
    ]:
        for changes, params, problem in changed:
            yield InvalidCall(
                name,
                {**tensors, **inputs, **changes},
                {"group": 2, **params},
                {"y": ((1, 4, 3, 3), dtype)},
                problem,
            )


HALVES = np.array([0.5, 1], np.float32)
INVALID = [
    InvalidCall("BitwiseAnd", {"a": zeros(2), "b": HALVES}, {}, {"c": (2,)}, "must be integers"),
    InvalidCall("BitwiseNot", {"x": HALVES}, {}, {"y": (2,)}, "x must be integers"),
    InvalidCall(
        "BitShift",
        {"x": zeros(2), "y": zeros(2)},
        {"direction": "LEFT"},
        {"z": (2,)},
        "must be integers",
    ),
    InvalidCall(
        "MatMulInteger",
        {"a": BYTES, "b": BYTES[:, :1], "a_zero_point": BYTES[0, :2], "b_zero_point": BYTES[0, :1]},
        {},
        {"y": ((3, 1), np.int32)},
        "must be one number or",
    ),
    InvalidCall(
        "MatMulInteger",
        {"a": BYTES, "b": BYTES[:1], "a_zero_point": BYTES[0], "b_zero_point": BYTES[0, :1]},
        {},
        {"y": ((3, 1), np.int32)},
        "a must be",
    ),
    InvalidCall(
        "BitCast", {"input": zeros(2)}, {"to": 7}, {"output": ((2,), np.int64)}, "of the size of"
    ),
    *invalid_scales(),
    *invalid_convolutions(),
    InvalidCall(
        "DynamicQuantizeLinear",
        {"x": zeros(2, dtype=np.int32)},
        {},
        {"y": ((2,), np.uint8), "y_scale": (1,), "y_zero_point": ((1,), np.uint8)},
        "x must be float16 or float32",
    ),
    *(
        InvalidCall(
            "QLinearMatMul",
            {**QUANTIZED, **others},
            {},
            {"y": ((3, 3), np.int8)},
            problem,
        )
        for others, problem in [
            ({"y_zero_point": zeros(1, dtype=np.uint8)}, "of the types of a, b and y"),
            ({"b_scale": zeros(1, dtype=np.int32)}, "must be float16 or float32"),
            ({"b_scale": zeros(2)}, "must be one number or"),
            ({"a_scale": zeros(3)}, "of a and y must be one number"),
            ({"b": zeros(2, 3, dtype=np.int8)}, "a must be"),
        ]
    ),
    *(
        InvalidCall(
            name,
            {first: zeros(2, dtype=np.int16), second: zeros(2, dtype=np.int8)},
            params,
            {output: ((2,), np.int16)},
            "must be of one type",
        )
        for name, first, second, output, params in [
            ("BitwiseOr", "a", "b", "c", {}),
            ("BitShift", "x", "y", "z", {"direction": "LEFT"}),
        ]
    ),
]

TABLE = Table(RANDOM, NODE_TESTS, NOT_APPLICABLE, INVALID)
