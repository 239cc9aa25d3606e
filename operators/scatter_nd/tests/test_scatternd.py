"""Test cases of ScatterND, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with scatternd_reference.py.
"""

from pathlib import Path

import numpy as np
import pytest
from scatternd_reference import output_shapes, reference

from opkit.testing import Operator, cases, check_cpu_kernel, integers, special, uniform

# RKNN-Toolkit2 has no such tensors.
HAS_SMALL = "pplnn" in Operator(Path(__file__).parents[1]).spec.runtimes
SMALL = ("int8", "uint8", "int16", "uint16", "uint32") if HAS_SMALL else ()
REDUCTIONS = ("none", "add", "mul", "min", "max")
PARAMS = [{"reduction": reduction} for reduction in REDUCTIONS]
SHAPES = [
    {"data": (4, 5, 6), "indices": (3, 4, 1), "updates": (3, 4, 5, 6)},  # slices
    {"data": (4, 5, 6), "indices": (30, 3), "updates": (30,)},  # elements
    {"data": (4, 7), "indices": (2,), "updates": (1,)},  # a single element
]
CASES = [
    case
    for dtype, limit in (
        *(("float32", 1), ("float16", 1)),
        *((name, 9) for name in ("int32", "int64", *SMALL)),
    )
    for case in cases(
        shapes=SHAPES,
        values=[
            {
                "data": uniform(0 if dtype[0] == "u" else -limit, limit),
                "indices": integers(-4, 3),
                "updates": uniform(0 if dtype[0] == "u" else -limit, limit),
            }
        ],
        params=PARAMS,
        dtype={"data": dtype, "indices": "int64", "updates": dtype, "output": dtype},
    )
]
SPECIAL = cases(
    shapes=[{"data": (5, 3), "indices": (5, 1), "updates": (5, 3)}],
    values=[{"data": special(), "indices": integers(0, 4), "updates": special()}],
    params=PARAMS,
    dtype={"data": "float32", "indices": "int64", "updates": "float32", "output": "float32"},
)


# Both apply the updates in the same order, in float32.
@pytest.mark.parametrize("case", CASES + SPECIAL, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def scatter(data, indices, updates, dtype=np.float32, reduction="none"):
    """Return the reference's output."""
    tensors = {
        "data": np.array(data, dtype),
        "indices": np.array(indices, np.int64),
        "updates": np.array(updates, dtype),
    }
    settings = {"reduction": reduction}
    output_shapes({name: array.shape for name, array in tensors.items()}, settings)
    return reference(tensors, settings)["output"].tolist()


def test_reference_places():
    assert scatter([1, 2, 3], [[2], [-3]], [7, 8]) == [8, 2, 7]
    assert scatter([[1, 2], [3, 4]], [[1]], [[7, 8]]) == [[1, 2], [7, 8]]
    assert scatter([[1, 2], [3, 4]], [1, 0], [7]) == [[1, 2], [7, 4]]


def test_reference_reductions():
    same = [1, 2], [[0], [0]], [3, -4]
    assert [scatter(*same, reduction=each)[0] for each in REDUCTIONS] == [-4, 0, -12, -4, 3]
    assert scatter([2**31 - 1], [[0]], [1], np.int32, "add") == [-(2**31)]
    assert str(scatter([np.nan, 1], [[0], [1]], [0, np.nan], reduction="max")) == "[nan, nan]"


@pytest.mark.parametrize(
    ("data", "indices", "updates", "reduction", "problem"),
    [
        ([1, 2], [[0, 0]], [3], "none", "must be 1 to the rank of data, not 2"),
        ([1, 2], [[0]], [3, 4], "none", "updates must be"),
        ([1, 2], [[0]], [3], "mean", "reduction must be none, add, mul, min or max, not 'mean'"),
        ([1, 2], [[2]], [3], "none", "indices must be within data"),
        ([1, 2], [[-3]], [3], "none", "indices must be within data"),
    ],
)
def test_invalid_calls_are_refused(data, indices, updates, reduction, problem):
    with pytest.raises(ValueError, match=problem):
        scatter(data, indices, updates, reduction=reduction)


def test_other_types_are_refused():
    tensors = {"data": np.int8([1]), "indices": np.int64([[0]]), "updates": np.int16([1])}
    with pytest.raises(ValueError, match="updates and output must be of the type of data"):
        reference(tensors, {"reduction": "none"})
    with pytest.raises(ValueError, match="bool has no reductions"):
        scatter([True], [[0]], [True], np.bool_, reduction="add")
