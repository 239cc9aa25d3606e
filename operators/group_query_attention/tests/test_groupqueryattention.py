"""Test cases of GroupQueryAttention, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with groupqueryattention_reference.py.
"""

import numpy as np
import pytest
from groupqueryattention_reference import output_shapes, reference

from opkit.testing import Case, check_cpu_kernel

NONE = {
    **dict.fromkeys(("key", "value", "past_key", "past_value", "cos_cache", "sin_cache"), (0,)),
    "position_ids": [0],
    "attention_bias": [0],
    "head_sink": [-65504],
}
DTYPES = {"seqlens_k": np.int32, "position_ids": np.int64}
RANDOM = np.random.default_rng(0)


def inputs_of(arrays, dtype=np.float32):
    """Return inputs of the right dtypes; those left out are NONE."""
    return {
        name: np.array(each, DTYPES.get(name, dtype)) for name, each in {**NONE, **arrays}.items()
    }


def random_case(rows, used, past=0, heads=(4, 2), size=6, pairs=0, dtype=np.float32, **changes):
    """Return a case of random numbers.

    rows: the count of queries. used: the count of keys of each batch. past: the rows of past_key.
    heads: those of queries and keys. pairs: of features in the caches. changes: arrays of inputs,
    shapes of random ones, and params.
    """
    total = changes.get("total_sequence_length", max(used))
    params = {"num_heads": heads[0], "kv_num_heads": heads[1], "total_sequence_length": total}
    shapes = {"query": (len(used), rows, heads[0] * size)}
    shapes |= dict.fromkeys(("key", "value"), (len(used), rows, heads[1] * size))
    if past:
        shapes |= dict.fromkeys(("past_key", "past_value"), (len(used), heads[1], past, size))
    if pairs:
        shapes |= dict.fromkeys(("cos_cache", "sin_cache"), (total + 2, pairs))
        params["do_rotary"] = 1
    arrays = {"seqlens_k": [each - 1 for each in used]}
    for name, each in {**shapes, **changes}.items():
        if name not in shapes and name not in NONE:
            params[name] = each
        else:
            arrays[name] = RANDOM.uniform(-2, 2, each) if isinstance(each, tuple) else each
    name = ", ".join([f"{rows} of {used}", *changes, np.dtype(dtype).name])
    return Case(name, inputs_of(arrays, dtype), params)


def random_cases(dtype):
    """Return a case for each input and param, and of each way to have a past."""
    of = {"dtype": dtype}
    packed = {"query": (2, 1, 64), "key": [0], "value": [0]}
    return [
        random_case(5, [5, 5], **of),
        random_case(40, [40], size=20, softcap=1.5, **of),
        random_case(1, [6, 4], past=5, **of),
        random_case(3, [8], past=5, heads=(3, 1), scale=0.5, **of),
        random_case(3, [8, 2], past=9, total_sequence_length=9, pairs=3, **of),
        random_case(1, [150, 9], past=200, pairs=2, rotary_interleaved=1, **of),
        random_case(4, [4, 2], past=6, pairs=2, **of),
        random_case(1, [6, 4], past=5, size=8, pairs=4, **packed, **of),
        random_case(3, [3, 3], pairs=3, position_ids=[[1, 4, 0], [2, 2, 2]], **of),
        random_case(3, [7, 4], past=4, pairs=3, position_ids=[[1, 4, 0], [2, 2, 3]], **of),
        random_case(9, [9], local_window_size=3, **of),
        random_case(40, [40], local_window_size=1, head_sink=(4,), **of),
        random_case(5, [5, 3], causal=0, **of),
        random_case(2, [7], past=5, attention_bias=(1, 1, 2, 7), softcap=2.0, **of),
        random_case(2, [7, 5], past=9, attention_bias=(2, 4, 2, 7), head_sink=(4,), **of),
        random_case(3, [3, 3], attention_bias=(1, 4, 3, 3), smooth_softmax=1, **of),
        random_case(20, [20, 19], attention_bias=(2, 1, 20, 20), smooth_softmax=1, **of),
    ]


CASES = [*random_cases(np.float32), *random_cases(np.float16)]


# The weights are rounded to float32, and so is each sum of products of values up to 2.
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=1, max_error=2e-5)


PARAMS = {
    "num_heads": 1,
    "kv_num_heads": 1,
    "causal": 1,
    "do_rotary": 0,
    "local_window_size": -1,
    "rotary_interleaved": 0,
    "scale": 1.0,
    "smooth_softmax": 0,
    "softcap": 0.0,
}
HALVES = np.log([[[1], [3], [4]]])  # with queries of 1, the weights are in proportion to 1, 3 and 4
ONES, ZEROS = np.ones((1, 3, 1)), np.zeros((1, 3, 1))
VALUES = [[[8], [0], [16]]]
ANGLES = {"cos_cache": [[1], [0], [-1], [0]], "sin_cache": [[0], [1], [0], [-1]]}


def outputs(query, key, value, used=None, **changes):
    """Return the reference's arrays of a batch with one head, rounded."""
    params = {name: each for name, each in changes.items() if name not in NONE}
    arrays = {name: each for name, each in changes.items() if name in NONE}
    used = used or len(key[0])
    arrays |= {"query": query, "key": key, "value": value, "seqlens_k": [used - 1]}
    total = {"total_sequence_length": used}
    found = reference(inputs_of(arrays), {**PARAMS, **total, **params})
    return [np.round(each, 4).ravel().tolist() for each in found.values()]


def test_reference():
    assert outputs(ONES, HALVES, VALUES)[0] == [8, 2, 9]
    assert outputs(ONES, HALVES, VALUES, causal=0)[0] == [9, 9, 9]
    assert outputs(2 * ONES, HALVES, VALUES, scale=0.5)[0] == [8, 2, 9]
    assert outputs(ONES, HALVES * 1e3, VALUES, softcap=1e-9)[0] == [8, 4, 8]
    assert outputs(ZEROS, HALVES, VALUES, local_window_size=1)[0] == [8, 0, 16]
    assert outputs(ZEROS, HALVES, VALUES, local_window_size=2)[0] == [8, 4, 8]
    smooth = {"causal": 0, "smooth_softmax": 1}
    assert outputs(ZEROS, HALVES, VALUES, **smooth)[0] == [6, 6, 6]
    none = outputs(ZEROS, HALVES, VALUES, causal=0)
    assert outputs(ZEROS, HALVES, VALUES, causal=0, smooth_softmax=-1) == none
    assert outputs(ZEROS, HALVES, VALUES, **smooth, head_sink=np.log([3]))[0] == [4, 4, 4]
    bias = np.broadcast_to(HALVES.reshape(3), (1, 1, 3, 3))
    assert outputs(ZEROS, HALVES, VALUES, attention_bias=bias)[0] == [8, 2, 9]


def test_reference_takes_the_used_rows_of_the_past():
    past = {"past_key": [[[[0], [7], [7], [7]]]], "past_value": [[[[4], [1], [2], [3]]]]}
    buffer = {**past, "total_sequence_length": 4}
    assert outputs([[[0]]], [[[5]]], [[[8]]], 2, **buffer) == [[6], [0, 5, 0, 0], [4, 8, 0, 0]]
    assert outputs([[[0]]], [[[5]]], [[[8]]], 1, **buffer) == [[8], [5, 0, 0, 0], [8, 0, 0, 0]]
    assert outputs([[[0]]], [[[5]]], [[[8]]], 5, **past)[2] == [4, 1, 2, 3, 8]


def test_reference_rotates():
    pair = [[[1, 2]]]
    past = {"past_key": np.zeros((1, 1, 3, 2)), "past_value": np.zeros((1, 1, 3, 2))}
    rotary = {"do_rotary": 1, **ANGLES, **past, "total_sequence_length": 3}
    assert outputs(pair, pair, pair, 1, **rotary)[1] == [1, 2, 0, 0, 0, 0]
    assert outputs(pair, pair, pair, 2, **rotary)[1] == [0, 0, -2, 1, 0, 0]
    assert outputs(pair, pair, pair, 1, **rotary, position_ids=[[2]])[1][:2] == [-1, -2]
    assert outputs(pair, pair, pair, 1, **{**rotary, "total_sequence_length": 1})[1][:2] == [1, 2]
    three = np.array([[[1, 2]] * 3])
    first = {"do_rotary": 1, **ANGLES, "position_ids": [[1, 0, 0]]}
    assert outputs(three, three, three, **first)[1] == [-2, 1, -1, -2, 2, -1]
    four, wide = [[[1, 2, 3, 4]]], {"cos_cache": [[0, 1]], "sin_cache": [[1, 0]], "do_rotary": 1}
    assert outputs(four, four, four, **wide)[1] == [-3, 2, 1, 4]
    assert outputs(four, four, four, **wide, rotary_interleaved=1)[1] == [-2, 1, 3, 4]


def test_reference_takes_packed_heads():
    found = outputs([[[0, 0, 5, 8]]], [0], [0], 1, num_heads=2)
    assert found == [[8, 8], [5], [8]]


VALID = {
    "query": (2, 3, 32),
    "key": (2, 3, 16),
    "value": (2, 3, 16),
    "past_key": (2, 2, 5, 8),
    "past_value": (2, 2, 5, 8),
    "seqlens_k": (2,),
    "cos_cache": (8, 4),
    "sin_cache": (8, 4),
    "position_ids": (2, 3),
    "attention_bias": (2, 4, 3, 8),
    "head_sink": (4,),
}
SIZES = {"num_heads": 4, "kv_num_heads": 2, "total_sequence_length": 8, "do_rotary": 1}


@pytest.mark.parametrize(
    ("shapes", "params", "problem"),
    [
        ({}, {"num_heads": 3}, "num_heads must be a multiple of kv_num_heads"),
        ({"query": (6, 32)}, {}, "query must be"),
        ({"query": (2, 3, 33)}, {}, "query must be"),
        ({"query": (2, 3, 0)}, {}, "heads must have 1 to 768 features"),
        ({"query": (2, 3, 4 * 769)}, {}, "heads must have 1 to 768 features"),
        ({"key": (2, 4, 16)}, {}, "key and value must be"),
        ({"query": (2, 3, 64), "key": (1,)}, {}, "key and value must be"),
        ({"value": (2, 3, 8)}, {}, "key and value must be"),
        ({"past_key": (2, 2, 6, 8)}, {}, "past_key and past_value must be"),
        ({"past_value": (1,)}, {}, "past_key and past_value must be"),
        ({}, {"total_sequence_length": 7}, "total_sequence_length must be"),
        ({}, {"total_sequence_length": 2}, "total_sequence_length must be"),
        ({"seqlens_k": (3,)}, {}, "seqlens_k must be"),
        ({"cos_cache": (8, 5), "sin_cache": (8, 5)}, {}, "cos_cache and sin_cache must be"),
        ({"cos_cache": (1,)}, {}, "cos_cache and sin_cache must be"),
        ({"sin_cache": (7, 4)}, {}, "cos_cache and sin_cache must be"),
        ({"position_ids": (2, 1)}, {}, "position_ids must be"),
        ({}, {"local_window_size": 0}, "local_window_size must be -1 or above 0"),
        ({"attention_bias": (2, 2, 3, 8)}, {}, "attention_bias must be"),
        ({"attention_bias": (2, 4, 3, 7)}, {}, "attention_bias must be"),
        ({"attention_bias": (4, 3, 8)}, {}, "attention_bias must be"),
        ({"head_sink": (2,)}, {}, "head_sink must be"),
    ],
)
def test_invalid_calls_are_refused(shapes, params, problem):
    with pytest.raises(ValueError, match=problem):
        output_shapes({**VALID, **shapes}, {**PARAMS, **SIZES, **params})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"seqlens_k": np.array([-1, 0], np.int32)}, "seqlens_k must be from 0"),
        ({"seqlens_k": np.array([0, 8], np.int32)}, "seqlens_k must be from 0"),
        ({"seqlens_k": np.zeros(2, np.int64)}, "seqlens_k must be int32"),
        ({"position_ids": np.zeros((2, 3), np.int32)}, "position_ids must be int64"),
        ({"position_ids": np.full((2, 3), 8)}, "positions must be rows of cos_cache"),
        ({"cos_cache": np.ones((8, 4), int)}, "must be float16 or float32"),
    ],
)
def test_invalid_values_are_refused(changes, problem):
    arrays = {name: np.zeros(shape, DTYPES.get(name, np.float32)) for name, shape in VALID.items()}
    with pytest.raises(ValueError, match=problem):
        reference({**arrays, **changes}, {**PARAMS, **SIZES})
