"""Test cases of OneHot, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with onehot_reference.py.
"""

import numpy as np
import pytest
from onehot_reference import output_shapes, reference

from opkit.testing import cases, check_cpu_kernel, integers, special, uniform

CASES = [
    case
    for dtype in ("float16", "float32", "int32", "int64")
    for case in cases(
        shapes=[{"indices": (2, 3, 5), "values": (2,)}],
        values=[{"indices": integers(-9, 9), "values": uniform(-1, 1)}],
        params=[{"depth": depth, "axis": axis} for depth in (1, 7) for axis in (-1, 0, 2)],
        dtype={"indices": dtype, "values": "float32", "output": "float32"},
    )
]
FLOATS = cases(
    shapes=[{"indices": (40,), "values": (2,)}],
    values=[
        {"indices": values, "values": uniform(-1, 1)} for values in (uniform(-5, 5), special())
    ],
    params=[{"depth": 4}],
    dtype="float32",
)


# Values are copied.
@pytest.mark.parametrize("case", CASES + FLOATS, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def one_hot(indices, dtype=np.int64, values=(0, 1), **params):
    """Return the reference's output."""
    settings = {"depth": 3, "axis": -1, **params}
    tensors = {"indices": np.array(indices, dtype), "values": np.array(values, np.float32)}
    output_shapes({name: array.shape for name, array in tensors.items()}, settings)
    return reference(tensors, settings)["output"].tolist()


def test_reference():
    assert one_hot([1, -1]) == [[0, 1, 0], [0, 0, 1]]
    assert one_hot([1, -1], axis=0) == [[0, 0], [1, 0], [0, 1]]
    assert one_hot([3, -4]) == [[0, 0, 0], [0, 0, 0]]
    assert one_hot([1.9, -0.9, np.nan, np.inf], np.float32) == [
        *([0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0])
    ]
    assert one_hot([0], values=(5, -2)) == [[-2, 5, 5]]


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"depth": 0}, "depth must be 1 or more, not 0"),
        ({"axis": 2}, "axis must be a dimension of output"),
        ({"values": (1,)}, "values must have 2 elements"),
        ({"dtype": np.int8}, "indices must be float16, float32, int32 or int64"),
        ({"indices": [[[[[[1]]]]]]}, "at most 5 dimensions"),
    ],
)
def test_invalid_calls_are_refused(params, problem):
    with pytest.raises(ValueError, match=problem):
        one_hot(**{"indices": [1], **params})
