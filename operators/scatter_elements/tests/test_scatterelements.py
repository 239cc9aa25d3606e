"""Test cases of ScatterElements, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with scatterelements_reference.py.
"""

from pathlib import Path

import numpy as np
import pytest
from scatterelements_reference import output_shapes, reference

from opkit.testing import Operator, cases, check_cpu_kernel, integers, special, uniform

# RKNN-Toolkit2 has no such tensors.
HAS_SMALL = "pplnn" in Operator(Path(__file__).parents[1]).spec.runtimes
SMALL = ("int8", "uint8", "int16", "uint16", "uint32") if HAS_SMALL else ()
REDUCTIONS = ("none", "add", "mul", "min", "max")
VALUES = {"data": uniform(-1, 1), "indices": integers(-4, 3), "updates": uniform(-1, 1)}
CASES = [
    case
    for dtype in ("float32", "float16")
    for case in cases(
        shapes=[{"data": (5, 4, 6), "indices": (4, 4, 5), "updates": (4, 4, 5)}],
        values=[VALUES],
        params=[
            {"axis": axis, "reduction": reduction}
            for axis in (0, 1, -1)
            for reduction in REDUCTIONS
        ],
        dtype={"data": dtype, "indices": "int64", "updates": dtype, "output": dtype},
    )
]
INTEGERS = [
    case
    for dtype in ("int32", "int64", *SMALL)
    for case in cases(
        shapes=[{"data": (4, 300), "indices": (3, 300), "updates": (3, 300)}],  # two blocks
        values=[
            {
                "data": uniform(0 if dtype[0] == "u" else -9, 9),
                "indices": integers(0, 3),
                "updates": uniform(0 if dtype[0] == "u" else -9, 9),
            }
        ],
        params=[{"reduction": reduction} for reduction in REDUCTIONS],
        dtype={"data": dtype, "indices": "int64", "updates": dtype, "output": dtype},
    )
]
# More updates than elements along the axis: the sums of scatter_add in networks on graphs.
LONG = cases(
    shapes=[{"data": (3, 4), "indices": shape, "updates": shape} for shape in [(50, 4), (7, 2)]],
    values=[{"data": uniform(-1, 1), "indices": integers(-3, 2), "updates": uniform(-1, 1)}],
    params=[{"reduction": reduction} for reduction in REDUCTIONS],
    dtype={"data": "float32", "indices": "int64", "updates": "float32", "output": "float32"},
) + cases(
    shapes=[{"data": (2, 3), "indices": (2, 300), "updates": (2, 300)}],  # two blocks
    values=[{"data": uniform(-1, 1), "indices": integers(-3, 2), "updates": uniform(-1, 1)}],
    params=[{"axis": -1, "reduction": reduction} for reduction in REDUCTIONS],
    dtype={"data": "float32", "indices": "int64", "updates": "float32", "output": "float32"},
)
SPECIAL = cases(
    shapes=[{"data": (40,), "indices": (40,), "updates": (40,)}],
    values=[{"data": special(), "indices": integers(0, 19), "updates": special()}],
    params=[{"reduction": reduction} for reduction in REDUCTIONS],
    dtype={"data": "float32", "indices": "int64", "updates": "float32", "output": "float32"},
)


# Both apply the updates in the same order, in float32.
@pytest.mark.parametrize("case", CASES + INTEGERS + LONG + SPECIAL, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def scatter(data, indices, updates, dtype=np.float32, **params):
    """Return the reference's output."""
    tensors = {
        "data": np.array(data, dtype),
        "indices": np.array(indices, np.int64),
        "updates": np.array(updates, dtype),
    }
    settings = {"axis": 0, "reduction": "none", **params}
    output_shapes({name: array.shape for name, array in tensors.items()}, settings)
    return reference(tensors, settings)["output"].tolist()


def test_reference_places():
    assert scatter([1, 2, 3], [2, -3], [7, 8]) == [8, 2, 7]
    assert scatter([[1, 2], [3, 4]], [[1, 0]], [[7, 8]]) == [[1, 8], [7, 4]]
    assert scatter([[1, 2], [3, 4]], [[1], [0]], [[7], [8]], axis=1) == [[1, 7], [8, 4]]
    assert scatter([1, 2], [0, 1, 0], [7, 8, 9], reduction="add") == [17, 10]


def test_reference_reductions():
    same = [1, 2], [0, 0], [3, -4]
    assert scatter(*same) == [-4, 2]
    assert scatter(*same, reduction="add") == [0, 2]
    assert scatter(*same, reduction="mul") == [-12, 2]
    assert scatter(*same, reduction="min") == [-4, 2]
    assert scatter(*same, reduction="max") == [3, 2]
    assert scatter([2**31 - 1], [0], [1], np.int32, reduction="add") == [-(2**31)]
    assert str(scatter([np.nan, 1], [0, 1], [0, np.nan], reduction="max")) == "[nan, nan]"


@pytest.mark.parametrize(
    ("data", "indices", "updates", "params", "problem"),
    [
        ([1, 2], [0], [3], {"axis": 1}, "axis must be a dimension of data"),
        ([1, 2], [[0]], [[3]], {}, "must have the same rank"),
        ([1, 2], [0], [3, 4], {}, "must be of one shape"),
        ([[1], [2]], [[0, 0]], [[3, 4]], {}, "larger than data at most along axis"),
        ([1, 2], [0], [3], {"reduction": "mean"}, "reduction must be none, add, mul, min or max"),
        ([1, 2], [2], [3], {}, "indices must be within the axis"),
        ([1, 2], [-3], [3], {}, "indices must be within the axis"),
    ],
)
def test_invalid_calls_are_refused(data, indices, updates, params, problem):
    with pytest.raises(ValueError, match=problem):
        scatter(data, indices, updates, **params)


def test_other_types_are_refused():
    tensors = {"data": np.int8([1]), "indices": np.int64([0]), "updates": np.int16([1])}
    with pytest.raises(ValueError, match="updates and output must be of the type of data"):
        reference(tensors, {"axis": 0, "reduction": "none"})
    with pytest.raises(ValueError, match="bool has no reductions"):
        scatter([True], [0], [True], np.bool_, reduction="add")
