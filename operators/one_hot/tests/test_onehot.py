"""Test cases of OneHot, for every kernel: shapes x values x params.

`scons check` runs each case on the CPU kernel and compares with onehot_reference.py.
"""

from pathlib import Path

import numpy as np
import pytest
from onehot_reference import output_shapes, reference

from opkit.testing import Operator, cases, check_cpu_kernel, integers, special, uniform

# That of values and output: a model's nodes may have another one.
DTYPE = Operator(Path(__file__).parents[1]).spec.outputs[0].dtype
VALUES = uniform(-1, 1) if DTYPE == "float32" else integers(-99, 99)
CASES = [
    case
    for dtype in ("float16", "float32", "int32", "int64")
    for case in cases(
        shapes=[{"indices": (2, 3, 5), "values": (2,)}],
        values=[{"indices": integers(-9, 9), "values": VALUES}],
        params=[{"depth": depth, "axis": axis} for depth in (1, 7) for axis in (-1, 0, 2)],
        dtype={"indices": dtype, "values": DTYPE, "output": DTYPE},
    )
]
FLOATS = cases(
    shapes=[{"indices": (40,), "values": (2,)}],
    values=[{"indices": values, "values": VALUES} for values in (uniform(-5, 5), special())],
    params=[{"depth": 4}],
    dtype={"indices": "float32", "values": DTYPE, "output": DTYPE},
)


# Values are copied.
@pytest.mark.parametrize("case", CASES + FLOATS, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


def one_hot(indices, dtype=np.int64, values=(0, 1), **params):
    """Return the reference's output."""
    settings = {"depth": 3, "axis": -1, **params}
    tensors = {"indices": np.array(indices, dtype), "values": np.asarray(values)}
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
        ({"values": np.int8([0, 1])}, "values must be float16"),
    ],
)
def test_invalid_calls_are_refused(params, problem):
    with pytest.raises(ValueError, match=problem):
        one_hot(**{"indices": [1], **params})
